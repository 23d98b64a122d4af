package tuning

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// What a number outside of this package is. One that trades time for quality is in Numbers instead.
const (
	size      = "bounds memory, or the steps of something that ends by itself as a rule"
	tolerance = "tells what is different from what is rounding"
	method    = "belongs to a method, and says nothing about instances"
	layout    = "is what something takes, in bytes, or how often something is looked at"
	odds      = "is one in so many random moves, which makes moves differ"
	caller    = "is for the caller to choose"
	large     = "trades time for quality on instances that are larger than those of the ablations: its comment has what it earns"
)

// constants are the numbers with a name of their own in package embedded and those below it, by folder and name.
var constants = map[string]string{
	". Quick": caller, ". Default": caller, ". Thorough": caller, ". Prove": caller,
	". mostStates": size, ". mostStateBytes": size, ". stateBytes": layout, ". typeBytes": layout, ". mostRestPatterns": size,
	". slice": method, ". lastGain": tolerance, ". mostCopies": size, ". mostPairs": size, ". mostProgramRows": size,
	". whole": tolerance, ". provenGap": tolerance, ". nodeRows": layout,
	". mostPackWork": size, ". promise": large,
	"tree mostOpenBytes": size, "tree node": layout, "tree leafStep": method, "tree leafLook": method,
	"colgen mostPricings": size, "colgen shortageCost": method, "colgen closeEnough": tolerance,
	"colgen reducedCost": tolerance, "colgen pivotSize": tolerance, "colgen mostPivots": size,
	"pattern mostCounts": size, "pattern mostResiduals": size, "pattern MostPatterns": size, "pattern mostRows": size,
	"pattern mostResidents": size, "pattern mostSubsets": size, "pattern NoClass": layout,
	"filling lookEvery": layout, "filling mostDead": size, "enumerate lookEvery": layout, "enumerate mostBegun": size, "enumerate mostKinds": size,
	"search tieFreed": tolerance, "search unchecked": size, "search few": layout, "search grouping": layout, "search ungrouped": layout,
	"leaf ProofMargin": tolerance, "leaf mostSeenBytes": size, "leaf each": layout, "leaf mostSweeps": size, "leaf raises": size,
	"leaf raise": method, "leaf leastRise": tolerance, "leaf unpacked": method, "leaf StatesPerSubproblem": layout,
	"leaf patternsPerSubproblem": layout,
	"lagrange serious":           method, "lagrange good": method, "lagrange patience": method, "lagrange longest": method,
	"lagrange firstStep": method, "lagrange negligible": tolerance, "lagrange quiet": method, "lagrange flat": tolerance,
	"lagrange firstRegret": method, "lagrange wider": method, "lagrange mostLedger": size, "lagrange contextEvery": layout,
	"lagrange ridge": tolerance, "lagrange mostListed": size, "lagrange mostWide": size, "lagrange mostRows": size,
	"lagrange totalCuts": size, "lagrange Stays": layout, "lagrange mostNewton": size, "lagrange inexact": method,
	"lagrange shortest": tolerance, "lagrange startPrice": method, "lagrange priceCuts": size, "lagrange copyCuts": size,
	"lagrange BlindTarget": method, "lagrange equal": tolerance, "lagrange fewClasses": layout,
	"sets leastRise": tolerance, "problem mostTallies": size, "problem halfObjective": tolerance, "problem halfLoss": tolerance,
	"problem floorMargin": tolerance, "problem golden": method, "problem fewestSlots": layout,
}

// literals are the numbers other than 0, 1 and 2 without a name, by folder and function.
var literals = map[string]string{
	". relaxed 4": "a quarter of Quick tells whether ceilings are in the way", ". searchSets 4": "the same",
	". improveSets 5":    "adjustments that one unit of Tries is for",
	"colgen pivot 1e-12": tolerance, "colgen Fractional 1e-6": tolerance,
	"lagrange search 0.5": "half of what is left, by bisection", "lagrange newDescent 3": layout,
	"lagrange slot 0x9e3779b97f4a7c15": layout, "lagrange slot 29": layout, "lagrange grow 64": layout,
	"lagrange accept 0.5": method, "lagrange NewCopyDescent 1e-6": tolerance, "lagrange solve 3": size, "lagrange products 3": layout, "lagrange products 4": layout,
	"lagrange average 3": layout, "lagrange average 4": layout, "lagrange differentiate 3": layout, "lagrange differentiate 4": layout,
	"lagrange factorize 3": layout, "lagrange factorize 4": layout,
	"leaf Identify 8": layout, "leaf Identify 16": layout, "leaf Identify 24": layout,
	"leaf pack 3": "a penalty above the price", "leaf floor 1e-9": tolerance, "leaf fillPriced 1e-9": tolerance,
	"problem latticeStep 1e-3": tolerance, "problem lossWeight 1000": tolerance,
	"search New 0.5": "[Dorm] §IV", "search Guide 3": "a penalty above the price",
	"search repair 4": odds, "search clearSome 3": odds, "search gather 3": odds, "search propose 3": odds, "search exchange 3": odds, "search exchange 4": odds,
	"search pickKept 3": odds, "search pickKept 4": odds,
	"search partOf 1e-3": tolerance, "search some 4": "containers up to which one is placed at a time",
	"search rehome 4": "the part of what fits that is placed at a time", "tree mostOpen 16": layout, "tree mostOpen 4": layout,
}

// found are the numbers in the sources.
type found struct {
	constants, literals map[string]int
}

// source parses the files of the solver below root that tests are not made of, and lists their numbers.
func source(t *testing.T, root string) found {
	t.Helper()
	all := found{map[string]int{}, map[string]int{}}
	files := os.DirFS(root)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder := path.Base(path.Dir(name))
		apart := strings.HasSuffix(folder, "test") || folder == "tuning" || folder == "rng"
		if entry.IsDir() || apart || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			return err
		}
		all.add(folder, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// add lists the numbers of a file.
func (f *found) add(folder string, file *ast.File) {
	where := "" // the function
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			where = n.Name.Name
		case *ast.GenDecl:
			if n.Tok == token.CONST {
				f.addConstants(folder, n)
				return false
			}
		case *ast.BasicLit:
			if number(n) && !slices.Contains([]string{"0", "1", "2", "0.0", "1.0"}, n.Value) {
				f.literals[fmt.Sprintf("%s %s %s", folder, where, n.Value)]++
			}
		}
		return true
	})
}

// addConstants lists those constants of a declaration that are made of numbers.
func (f *found) addConstants(folder string, decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		spec := spec.(*ast.ValueSpec)
		for at, value := range spec.Values {
			ast.Inspect(value, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && number(lit) {
					f.constants[folder+" "+spec.Names[at].Name]++
					return false
				}
				return true
			})
		}
	}
}

func number(lit *ast.BasicLit) bool { return lit.Kind == token.INT || lit.Kind == token.FLOAT }

// Every number of the solver is one of Numbers, or stands here with what it is, and nothing stands here that is gone. With -v
// it prints how many there are of each sort.
func TestNumbersAreListed(t *testing.T) {
	got := source(t, "../..")
	sorts := map[string]int{}
	for what, listed := range map[string]map[string]string{"constant": constants, "number without a name": literals} {
		there := got.constants
		if what != "constant" {
			there = got.literals
		}
		for name := range there {
			if listed[name] == "" {
				t.Errorf("%s %q: should it be one of tuning.Numbers? If not, say here what it is", what, name)
			}
		}
		for name, sort := range listed {
			if there[name] == 0 {
				t.Errorf("%s %q is listed, but gone", what, name)
			}
			if what == "constant" {
				sorts[sort]++
			}
		}
	}
	numbers := len(names())
	t.Logf("%d numbers trade time for quality, %d constants and %d places with a number do not", numbers, len(constants), len(literals))
	for _, sort := range slices.Sorted(maps.Keys(sorts)) {
		t.Logf("%d: %s", sorts[sort], sort)
	}
	if most := 65; numbers > most {
		t.Errorf("%d numbers trade time for quality, %d are too many already", numbers, most)
	}
}

// names returns the names of all numbers, with that of their group.
func names() []string {
	var all []string
	groups := reflect.TypeFor[Numbers]()
	for g := range groups.NumField() {
		for n := range groups.Field(g).Type.NumField() {
			all = append(all, groups.Field(g).Name+"."+groups.Field(g).Type.Field(n).Name)
		}
	}
	return all
}

// A number that is planted in a source is found, with the function or the name that it has.
func TestNumbersAreFound(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nconst a, b = 3, -1 << 2\nconst s = \"4\"\nfunc f(n int) int { const c = 7; return n*5 + 2 }\nvar v = 2.5", 0)
	if err != nil {
		t.Fatal(err)
	}
	got := found{map[string]int{}, map[string]int{}}
	got.add("x", file)
	if want := map[string]int{"x f 5": 1, "x f 2.5": 1}; !maps.Equal(got.literals, want) {
		t.Errorf("numbers %v, want %v", got.literals, want)
	}
	for _, name := range []string{"x a", "x b", "x c"} {
		if got.constants[name] == 0 {
			t.Errorf("constant %q was not found", name)
		}
	}
	if len(got.constants) != 3 {
		t.Errorf("constants %v", got.constants)
	}
}

// Standard sets every number, and to something that can be used: none is negative, and none is the same variable twice.
func TestStandard(t *testing.T) {
	first, second := reflect.ValueOf(Standard()).Elem(), reflect.ValueOf(Standard()).Elem()
	for g := range first.NumField() {
		for n := range first.Field(g).NumField() {
			name := first.Type().Field(g).Name + "." + first.Field(g).Type().Field(n).Name
			value := first.Field(g).Field(n)
			if value.IsZero() {
				t.Errorf("%s is not set", name)
			}
			if value.CanFloat() && value.Float() < 0 || value.CanInt() && value.Int() < 0 {
				t.Errorf("%s is %v", name, value)
			}
		}
	}
	first.FieldByName("PriceShares").Index(0).SetFloat(7)
	if second.FieldByName("PriceShares").Index(0).Float() == 7 {
		t.Error("two callers share their numbers")
	}
}
