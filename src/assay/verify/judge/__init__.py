"""The judge: a model that compares one claim with its evidence, and sees nothing else."""

from assay.verify.judge.model_judge import JudgeRuling as JudgeRuling
from assay.verify.judge.model_judge import consider as consider
from assay.verify.judge.model_judge import has_judge as has_judge
from assay.verify.judge.model_judge import judge as judge
