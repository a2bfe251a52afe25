"""The judge: a model which holds one claim against its evidence, and sees nothing else."""

from assay.verify.judge.model_judge import JudgeRuling as JudgeRuling
from assay.verify.judge.model_judge import consider as consider
from assay.verify.judge.model_judge import has_judge as has_judge
from assay.verify.judge.model_judge import judge as judge
