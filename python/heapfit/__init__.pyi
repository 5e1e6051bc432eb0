# SPDX-License-Identifier: Apache-2.0
"""The names of `import heapfit` for type checkers, made by scripts/package_stub.py; `make docs`."""

from heapfit.checks.check import Check as Check
from heapfit.checks.check import CheckOptions as CheckOptions
from heapfit.checks.drill import Drill as Drill
from heapfit.checks.drill import drill_program as drill_program
from heapfit.checks.host_run import HostRun as HostRun
from heapfit.checks.host_run import run_program as run_program
from heapfit.comparison.comparison import Comparison as Comparison
from heapfit.comparison.row import Row as Row
from heapfit.design.plan_options import PlanOptions as PlanOptions
from heapfit.errors import HeapfitError as HeapfitError
from heapfit.fitting.fitted_heap import FittedHeap as FittedHeap
from heapfit.fitting.options import FitOptions as FitOptions
from heapfit.forecast.kind import Kind as Kind
from heapfit.forecast.kind import RecordingKind as RecordingKind
from heapfit.front_door import check as check
from heapfit.front_door import compare as compare
from heapfit.front_door import find_bounds as find_bounds
from heapfit.front_door import find_front as find_front
from heapfit.front_door import find_kind as find_kind
from heapfit.front_door import fit as fit
from heapfit.front_door import forecast_log as forecast_log
from heapfit.front_door import generate_code as generate_code
from heapfit.front_door import generate_workload as generate_workload
from heapfit.front_door import open as open
from heapfit.front_door import profile_trace as profile_trace
from heapfit.front_door import simulate as simulate
from heapfit.front_door import size_pools as size_pools
from heapfit.front_door import size_settings as size_settings
from heapfit.front_door import size_traffic as size_traffic
from heapfit.importers import ImportOptions as ImportOptions
from heapfit.importers import import_file as import_file
from heapfit.importers import import_frames as import_frames
from heapfit.importers.record import record as record
from heapfit.importers.target_log import Emulation as Emulation
from heapfit.importers.target_log import record_emulated as record_emulated
from heapfit.importers.target_log import record_serial as record_serial
from heapfit.plan.allocators import find_allocators as find_allocators
from heapfit.plan.plan import Plan as Plan
from heapfit.plan.plan import Pool as Pool
from heapfit.plan.plan_file import PlanFile as PlanFile
from heapfit.plan.plan_file import load_plan as load_plan
from heapfit.plan.plan_file import save_plan as save_plan
from heapfit.simulation.scenario import load_scenario as load_scenario
from heapfit.sizing.from_traffic import Aim as Aim
from heapfit.sizing.pools import PoolOptions as PoolOptions
from heapfit.sizing.systems import SettingsOptions as SettingsOptions
from heapfit.trace.in_memory import from_arrow as from_arrow
from heapfit.trace.in_memory import from_events as from_events
from heapfit.trace.in_memory import from_pandas as from_pandas
from heapfit.trace.operations import Op as Op
from heapfit.trace.profile import Profile as Profile
from heapfit.trace.stored import Trace as Trace
from heapfit.trace.stored import TraceInfo as TraceInfo

__version__: str
