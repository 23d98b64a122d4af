// This file lists the public types of all packages: those that survive JSON, and those that do not,
// with the reason.

package jsontest

import (
	"reflect"

	"github.com/apportion/apportion"
	"github.com/apportion/apportion/alloc"
	"github.com/apportion/apportion/alloc/embedded"
	"github.com/apportion/apportion/alloc/milp"
	"github.com/apportion/apportion/alloc/milp/ortools"
	"github.com/apportion/apportion/alloc/mip"
	"github.com/apportion/apportion/alloc/solver"
	"github.com/apportion/apportion/alloc/worth"
	"github.com/apportion/apportion/checkpoint"
	"github.com/apportion/apportion/checkpoint/agent"
	"github.com/apportion/apportion/checkpoint/command"
	"github.com/apportion/apportion/checkpoint/controller"
	"github.com/apportion/apportion/checkpoint/driver"
	"github.com/apportion/apportion/checkpoint/format"
	"github.com/apportion/apportion/checkpoint/guard"
	"github.com/apportion/apportion/checkpoint/page"
	"github.com/apportion/apportion/checkpoint/runner"
	"github.com/apportion/apportion/checkpoint/store"
	"github.com/apportion/apportion/checkpoint/vfs"
	"github.com/apportion/apportion/checkpoint/wire"
	"github.com/apportion/apportion/checkpoint/workerlog"
	"github.com/apportion/apportion/drf"
	"github.com/apportion/apportion/growth"
	"github.com/apportion/apportion/growth/flowcon"
	"github.com/apportion/apportion/growth/specon"
	"github.com/apportion/apportion/growth/speedup"
	"github.com/apportion/apportion/placement"
	"github.com/apportion/apportion/placement/sim"
	"github.com/apportion/apportion/placement/sim/forecast"
	"github.com/apportion/apportion/placement/sim/policies"
	"github.com/apportion/apportion/primaldual"
	"github.com/apportion/apportion/primaldual/deadline"
)

// survivors are the types of which every value survives JSON unchanged.
var survivors = []reflect.Type{
	reflect.TypeFor[apportion.Item](), reflect.TypeFor[apportion.Kinds](), reflect.TypeFor[apportion.Reason](),
	reflect.TypeFor[apportion.Resources](), reflect.TypeFor[apportion.Server](),
	reflect.TypeFor[apportion.Placement](),

	reflect.TypeFor[alloc.Status](), reflect.TypeFor[alloc.Decision](), reflect.TypeFor[alloc.Option](), reflect.TypeFor[alloc.Share](),
	reflect.TypeFor[alloc.Waiting](), reflect.TypeFor[alloc.Staying](), reflect.TypeFor[alloc.Metrics](), reflect.TypeFor[alloc.Difference](),
	reflect.TypeFor[alloc.Explanation](), reflect.TypeFor[alloc.Stop](), reflect.TypeFor[alloc.KindValue](),
	reflect.TypeFor[alloc.Action](), reflect.TypeFor[alloc.Step](), reflect.TypeFor[alloc.Plan](),
	reflect.TypeFor[alloc.Problem](), reflect.TypeFor[alloc.Slices](), reflect.TypeFor[alloc.Application](), reflect.TypeFor[alloc.Allocation](),
	reflect.TypeFor[alloc.Options](), reflect.TypeFor[alloc.ShareRule](), reflect.TypeFor[alloc.LossMeasure](), reflect.TypeFor[alloc.WorthRule](), reflect.TypeFor[alloc.Record](),
	reflect.TypeFor[alloc.Proof](), reflect.TypeFor[alloc.LeastLoss](), reflect.TypeFor[apportion.Requirement](),
	reflect.TypeFor[apportion.Operator](), reflect.TypeFor[alloc.Fragmentation](), reflect.TypeFor[alloc.Fragment](),

	reflect.TypeFor[worth.Job](), reflect.TypeFor[worth.Worths](),

	reflect.TypeFor[embedded.Effort](), reflect.TypeFor[embedded.Options](),

	reflect.TypeFor[milp.Term](), reflect.TypeFor[milp.Capability](), reflect.TypeFor[milp.Sense](),
	reflect.TypeFor[milp.Variable](), reflect.TypeFor[milp.Row](), reflect.TypeFor[milp.Columns](),
	reflect.TypeFor[milp.MPSOptions](), reflect.TypeFor[milp.Status](), reflect.TypeFor[milp.Solution](),
	reflect.TypeFor[milp.Progress](),

	reflect.TypeFor[ortools.CPSAT](), reflect.TypeFor[ortools.HiGHS](), reflect.TypeFor[ortools.SCIP](),
	reflect.TypeFor[ortools.GLOP](),

	reflect.TypeFor[mip.Form](),

	reflect.TypeFor[solver.Certificate](), reflect.TypeFor[solver.Settings](),
	reflect.TypeFor[solver.Instance](), reflect.TypeFor[solver.Group](), reflect.TypeFor[solver.Choice](), reflect.TypeFor[solver.App](), reflect.TypeFor[solver.LossPoint](), reflect.TypeFor[solver.Spread](), reflect.TypeFor[solver.Rooms](), reflect.TypeFor[solver.Torn](), reflect.TypeFor[solver.Counts](),
	reflect.TypeFor[solver.Multipliers](), reflect.TypeFor[solver.CopyPrices](), reflect.TypeFor[solver.PiecePrices](), reflect.TypeFor[solver.Status](),
	reflect.TypeFor[solver.Rank](), reflect.TypeFor[solver.Solution](),

	reflect.TypeFor[checkpoint.Config](), reflect.TypeFor[checkpoint.Timeouts](),
	reflect.TypeFor[checkpoint.Action](), reflect.TypeFor[checkpoint.Effect](),
	reflect.TypeFor[checkpoint.Outcome](), reflect.TypeFor[checkpoint.Tick](),
	reflect.TypeFor[checkpoint.ServerUp](), reflect.TypeFor[checkpoint.ServerFenced](), reflect.TypeFor[checkpoint.ServerSilent](), reflect.TypeFor[checkpoint.StoreNamed](), reflect.TypeFor[store.Share](),
	reflect.TypeFor[agent.Ended](), reflect.TypeFor[checkpoint.Orphan](), reflect.TypeFor[checkpoint.Witness](), reflect.TypeFor[checkpoint.Gap](),
	reflect.TypeFor[checkpoint.Drain](), reflect.TypeFor[checkpoint.Cordon](), reflect.TypeFor[checkpoint.Stalled](),
	reflect.TypeFor[checkpoint.Submit](), reflect.TypeFor[checkpoint.Adjust](),
	reflect.TypeFor[checkpoint.Checkpoint](), reflect.TypeFor[checkpoint.Cancel](),
	reflect.TypeFor[checkpoint.Forget](), reflect.TypeFor[checkpoint.Finished](),
	reflect.TypeFor[checkpoint.Exited](), reflect.TypeFor[checkpoint.Reply](), reflect.TypeFor[checkpoint.Phase](),
	reflect.TypeFor[checkpoint.Ending](), reflect.TypeFor[checkpoint.Confirmed](),
	reflect.TypeFor[checkpoint.Host](), reflect.TypeFor[checkpoint.Job](), reflect.TypeFor[checkpoint.Ready](), reflect.TypeFor[checkpoint.Record](),

	reflect.TypeFor[agent.Page](), reflect.TypeFor[agent.Marks](), reflect.TypeFor[agent.Fence](),
	reflect.TypeFor[agent.Ruling](), reflect.TypeFor[agent.Verdict](), reflect.TypeFor[agent.Stamp](),
	reflect.TypeFor[agent.Lease](), reflect.TypeFor[agent.Order](), reflect.TypeFor[agent.Question](),
	reflect.TypeFor[agent.Status](), reflect.TypeFor[agent.JobStatus](), reflect.TypeFor[agent.Incarnation](),

	reflect.TypeFor[command.Commands](), reflect.TypeFor[command.Reading](),
	reflect.TypeFor[command.Acknowledgement](),

	reflect.TypeFor[guard.ID](), reflect.TypeFor[guard.Claim](), reflect.TypeFor[guard.State](),
	reflect.TypeFor[guard.End](), reflect.TypeFor[guard.Why](), reflect.TypeFor[guard.Grant](),
	reflect.TypeFor[guard.Seen](), reflect.TypeFor[guard.Record](), reflect.TypeFor[guard.Containment](),

	reflect.TypeFor[wire.Role](), reflect.TypeFor[wire.Party](), reflect.TypeFor[wire.Key](), reflect.TypeFor[wire.Secret](), reflect.TypeFor[wire.Credential](),

	reflect.TypeFor[workerlog.Line](), reflect.TypeFor[workerlog.Options](), reflect.TypeFor[workerlog.Confirmed](), reflect.TypeFor[workerlog.Fault](),

	reflect.TypeFor[controller.View](), reflect.TypeFor[controller.Server](), reflect.TypeFor[controller.Job](), reflect.TypeFor[controller.Waiting](),
	reflect.TypeFor[page.State](), reflect.TypeFor[page.Head](), reflect.TypeFor[page.Server](), reflect.TypeFor[page.Job](), reflect.TypeFor[page.Queue](),
	reflect.TypeFor[page.Decision](), reflect.TypeFor[page.Change](), reflect.TypeFor[page.Start](),
	reflect.TypeFor[controller.JobReport](), reflect.TypeFor[controller.Report](),

	reflect.TypeFor[driver.Traced](), reflect.TypeFor[driver.State](), reflect.TypeFor[driver.JobState](),

	reflect.TypeFor[format.Found](), reflect.TypeFor[format.Skip](),
	reflect.TypeFor[format.MXNet](), reflect.TypeFor[format.PyTorch](), reflect.TypeFor[format.TensorFlow](),
	reflect.TypeFor[format.SafeTensors](),

	reflect.TypeFor[runner.Run](), reflect.TypeFor[runner.Saved](), reflect.TypeFor[runner.Progress](),

	reflect.TypeFor[store.Folder](), reflect.TypeFor[store.Manifest](), reflect.TypeFor[store.Part](),
	reflect.TypeFor[store.Digest](), reflect.TypeFor[store.Identity](), reflect.TypeFor[store.Sums](),

	reflect.TypeFor[store.Record](), reflect.TypeFor[store.Stored](), reflect.TypeFor[store.Form](),
	reflect.TypeFor[store.Place](),

	reflect.TypeFor[vfs.Entry](),

	reflect.TypeFor[drf.Claim](), reflect.TypeFor[drf.ClaimExplanation[float64]](),
	reflect.TypeFor[drf.ClaimExplanation[int64]](), reflect.TypeFor[drf.Explanation[float64]](),
	reflect.TypeFor[drf.Explanation[int64]](), reflect.TypeFor[drf.Filling[float64]](),
	reflect.TypeFor[drf.Filling[int64]](), reflect.TypeFor[drf.Filled[float64]](),
	reflect.TypeFor[drf.Filled[int64]](), reflect.TypeFor[drf.Stop](), reflect.TypeFor[drf.Cause](),
	reflect.TypeFor[drf.WholeOptions](), reflect.TypeFor[drf.Property](), reflect.TypeFor[drf.Violation](),
	reflect.TypeFor[drf.Report](), reflect.TypeFor[drf.Queue](), reflect.TypeFor[drf.Ceiling](),
	reflect.TypeFor[drf.TreeFilling[float64]](), reflect.TypeFor[drf.TreeFilling[int64]](),
	reflect.TypeFor[drf.FilledQueue[float64]](), reflect.TypeFor[drf.FilledQueue[int64]](),
	reflect.TypeFor[drf.TreeExplanation[float64]](), reflect.TypeFor[drf.TreeExplanation[int64]](),
	reflect.TypeFor[drf.QueueExplanation[float64]](), reflect.TypeFor[drf.QueueExplanation[int64]](),
	reflect.TypeFor[drf.SorterState](), reflect.TypeFor[drf.HistoryState](), reflect.TypeFor[drf.Derived](), reflect.TypeFor[drf.QueueMean](), reflect.TypeFor[drf.ClientState](), reflect.TypeFor[drf.Balance](),
	reflect.TypeFor[drf.Holding](),

	reflect.TypeFor[speedup.Model](), reflect.TypeFor[speedup.Observation](), reflect.TypeFor[speedup.Curve](),
	reflect.TypeFor[speedup.Point](), reflect.TypeFor[speedup.Kept](),
	reflect.TypeFor[speedup.Estimator](), reflect.TypeFor[speedup.Options](),

	reflect.TypeFor[growth.Verdict](), reflect.TypeFor[growth.Category](), reflect.TypeFor[growth.Cause](),
	reflect.TypeFor[growth.Change](), reflect.TypeFor[growth.Normalization](), reflect.TypeFor[growth.Prospect](),
	reflect.TypeFor[growth.Outcome](), reflect.TypeFor[growth.Threshold](), reflect.TypeFor[growth.Decline](),
	reflect.TypeFor[growth.Direction](), reflect.TypeFor[growth.Evidence](), reflect.TypeFor[growth.Point](),

	reflect.TypeFor[flowcon.Reading](), reflect.TypeFor[flowcon.Trigger](), reflect.TypeFor[flowcon.Decision](),
	reflect.TypeFor[flowcon.Standing](), reflect.TypeFor[flowcon.Rule](), reflect.TypeFor[flowcon.Limit](),
	reflect.TypeFor[flowcon.Config](),

	reflect.TypeFor[specon.Assignment](), reflect.TypeFor[specon.Waiting](),
	reflect.TypeFor[specon.Move](), reflect.TypeFor[specon.Answer](),
	reflect.TypeFor[specon.Load](), reflect.TypeFor[specon.Decision](), reflect.TypeFor[specon.EventKind](),
	reflect.TypeFor[specon.Event](), reflect.TypeFor[specon.ManagerConfig](),
	reflect.TypeFor[specon.Observation](), reflect.TypeFor[specon.Request](), reflect.TypeFor[specon.Counts](),
	reflect.TypeFor[specon.Report](), reflect.TypeFor[specon.Standing](), reflect.TypeFor[specon.Config](),
	reflect.TypeFor[specon.Job](), reflect.TypeFor[specon.Transfer](), reflect.TypeFor[specon.State](),

	reflect.TypeFor[placement.Worker](), reflect.TypeFor[placement.HostRequest](),
	reflect.TypeFor[placement.HostOptions](), reflect.TypeFor[placement.HostReason](),
	reflect.TypeFor[placement.Host](), reflect.TypeFor[placement.Rule](), reflect.TypeFor[placement.Bin](),
	reflect.TypeFor[placement.Active](), reflect.TypeFor[placement.RebalanceRequest](),
	reflect.TypeFor[placement.RebalanceOptions](), reflect.TypeFor[placement.Transfer](),
	reflect.TypeFor[placement.RebalancePlan](), reflect.TypeFor[placement.Weights](),
	reflect.TypeFor[placement.Counts](),

	reflect.TypeFor[sim.Orders](), reflect.TypeFor[sim.Place](), reflect.TypeFor[sim.Limit](),
	reflect.TypeFor[forecast.Known](), reflect.TypeFor[forecast.Run](), reflect.TypeFor[forecast.Quantiles](),
	reflect.TypeFor[forecast.Arrival](), reflect.TypeFor[forecast.Shrinkage](),
	reflect.TypeFor[sim.Result](), reflect.TypeFor[sim.Sample](), reflect.TypeFor[sim.Outcome](),
	reflect.TypeFor[sim.Span](), reflect.TypeFor[sim.Shared](),

	reflect.TypeFor[policies.Default](), reflect.TypeFor[policies.FIFO](), reflect.TypeFor[policies.OASiS](), reflect.TypeFor[policies.Deadline](),
	reflect.TypeFor[policies.RRH](), reflect.TypeFor[policies.SpeCon](),

	reflect.TypeFor[primaldual.Bounds](), reflect.TypeFor[primaldual.BoundsOptions](),
	reflect.TypeFor[primaldual.Certificate](), reflect.TypeFor[primaldual.CertificateOptions](),
	reflect.TypeFor[primaldual.Side](), reflect.TypeFor[primaldual.Cluster](),
	reflect.TypeFor[primaldual.Decision](), reflect.TypeFor[primaldual.Schedule](),
	reflect.TypeFor[primaldual.SlotPlan](), reflect.TypeFor[primaldual.Displacement](),
	reflect.TypeFor[primaldual.Job](), reflect.TypeFor[primaldual.Ledger](),
	reflect.TypeFor[primaldual.Method](),
	reflect.TypeFor[primaldual.Offline](),
	reflect.TypeFor[primaldual.Finish](),
	reflect.TypeFor[primaldual.Sigmoid](), reflect.TypeFor[primaldual.Constant](),
	reflect.TypeFor[primaldual.Linear](), reflect.TypeFor[primaldual.Step](), reflect.TypeFor[primaldual.Steps](),
	reflect.TypeFor[primaldual.Verdict](), reflect.TypeFor[primaldual.Workload](),

	reflect.TypeFor[alloc.Form](), reflect.TypeFor[alloc.Rule](), reflect.TypeFor[alloc.QueueUse](), reflect.TypeFor[alloc.Reservation](), reflect.TypeFor[alloc.Settled](), reflect.TypeFor[alloc.Change](), reflect.TypeFor[alloc.Settings](), reflect.TypeFor[alloc.Event](), reflect.TypeFor[alloc.Snapshot](), reflect.TypeFor[alloc.OrderRule](),
	reflect.TypeFor[apportion.Blocker](), reflect.TypeFor[apportion.Remedy](),

	reflect.TypeFor[deadline.Broken](), reflect.TypeFor[deadline.Finish](), reflect.TypeFor[deadline.Outcome](),
	reflect.TypeFor[deadline.Deadline](), reflect.TypeFor[deadline.Job](), reflect.TypeFor[deadline.Strength](),
	reflect.TypeFor[deadline.Options](), reflect.TypeFor[deadline.Decision](), reflect.TypeFor[deadline.Share](),
}

// infinite are the survivors that may hold infinite answers.
var infinite = []reflect.Type{
	reflect.TypeFor[primaldual.Certificate](),
}

// exempt are the types with exported fields that need not survive JSON, with the reason.
var exempt = map[string]string{
	".Faults":                              "is an error, whose sort is a sentinel compared by identity",
	".FieldError":                          "is an error, whose sort is a sentinel compared by identity",
	"alloc.Decider":                        "remembers what the solver alone reads",
	"alloc/milp.CapabilityError":           "is an error, whose sort is a sentinel compared by identity",
	"alloc/milp.Options":                   "holds a function or an interface of the caller's",
	"alloc/milp.ParseError":                "is an error, whose sort is a sentinel compared by identity",
	"alloc/milp.WrongAnswerError":          "is an error, whose sort is a sentinel compared by identity",
	"alloc/mip.Model":                      "holds a function or an interface of the caller's",
	"alloc/mip.Options":                    "holds a function or an interface of the caller's",
	"drf.Change":                           "holds the handle of a client",
	"primaldual.SchedulerOptions":          "holds a function or an interface of the caller's",
	"checkpoint/agent.Config":              "holds a function or an interface of the caller's",
	"checkpoint/command.Options":           "holds a function or an interface of the caller's",
	"checkpoint/command.User":              "refuses root, the zero value; TestParseUser reads what it writes",
	"checkpoint/guard.Deaths":              "is handed from call to call and never kept",
	"checkpoint/guard.Road":                "holds a function or an interface of the caller's",
	"checkpoint/guard.Config":              "holds a function or an interface of the caller's",
	"checkpoint/guard.HTTP":                "holds a function or an interface of the caller's",
	"checkpoint/controller/daemon.Guarded": "is handed to a cluster at the start",
	"checkpoint/controller/daemon.Program": "holds a function or an interface of the caller's",
	"checkpoint/controller.Taken":          "its problem and its decision, which survive each, must fit each other",
	"checkpoint/controller.Headroom":       "is read from a flag",
	"checkpoint/controller.Hours":          "is read from a flag",
	"checkpoint/controller.Reserve":        "is read from a flag",
	"checkpoint/controller.Config":         "holds a function or an interface of the caller's",
	"checkpoint/page.Config":               "holds a function or an interface of the caller's",
	"checkpoint/page.Foresight":            "is kept in memory",
	"checkpoint/page.Forecasts":            "holds functions of the caller's",
	"checkpoint/page.Question":             "comes in an address",
	"checkpoint/managed.Agent":             "holds a function or an interface of the caller's",
	"checkpoint/managed.Config":            "holds a function or an interface of the caller's",
	"checkpoint/managed.Part":              "is handed from call to call and never kept",
	"checkpoint/managed.Task":              "is handed from call to call and never kept",
	"checkpoint/wire.Client":               "holds a function or an interface of the caller's",
	"checkpoint/wire.Remote":               "holds a function or an interface of the caller's",
	"checkpoint/wire.StatusError":          "is an error, of one answer",
	"checkpoint/driver.Config":             "holds a function or an interface of the caller's",
	"checkpoint/driver.Options":            "holds a function or an interface of the caller's",
	"checkpoint/store/files.Store":         "is a store, no value",
	"checkpoint/store.Files":               "is an argument of Save alone",
	"checkpoint/store/files.Options":       "holds a function or an interface of the caller's",
	"growth.Test":                          "holds a function or an interface of the caller's",
	"growth/flowcon.Options":               "holds a function or an interface of the caller's",
	"growth/specon.ManagerOptions":         "holds a function or an interface of the caller's",
	"growth/specon.Options":                "holds a function or an interface of the caller's",
	"placement/sim.Job":                    "holds a function or an interface of the caller's",
	"placement/sim.JobState":               "holds a function or an interface of the caller's",
	"placement/sim.OrderError":             "is an error, whose sort is a sentinel compared by identity",
	"placement/sim.Scenario":               "holds a function or an interface of the caller's",
	"placement/sim.State":                  "holds a function or an interface of the caller's",
	"placement/sim/forecast.Clock":         "says times in words",
	"placement/sim/forecast.Decisions":     "holds a function or an interface of the caller's",
	"placement/sim/forecast.Forecast":      "leaves out Times.Starts",
	"placement/sim/forecast.Options":       "holds a function or an interface of the caller's",
	"placement/sim/forecast.Times":         "leaves out Starts, of all replays",
	"placement/sim/policies.Dorm":          "holds a function or an interface of the caller's",
	"placement/sim/policies.EASY":          "holds a function of the caller's",
	"placement/sim/policies.FlowCon":       "holds a function or an interface of the caller's",
}

// numbers are the types of whole numbers that are no enumerations, or sets of flags.
var numbers = []string{"embedded.Effort", "milp.Capability"}
