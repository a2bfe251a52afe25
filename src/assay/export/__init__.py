"""Reports in file formats: functions of a `RunView`, found by file suffix (group `assay.exporters`)."""
