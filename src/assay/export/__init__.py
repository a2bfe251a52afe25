"""Reports in the formats people keep: functions of a `RunView`, found by file suffix (group `assay.exporters`)."""
