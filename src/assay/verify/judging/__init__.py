"""The judge: a model which holds one claim against its evidence, and sees nothing else."""

from assay.verify.judging.judge import Judged as Judged
from assay.verify.judging.judge import consider as consider
from assay.verify.judging.judge import has_judge as has_judge
from assay.verify.judging.judge import judge as judge
