// This file tests that no product of floats is added to anything before it is rounded: some machines do both in one step, and answers
// would be others there. A conversion, float64(x*y), rounds.

package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"testing"

	"golang.org/x/tools/go/packages"
)

// everywhere are the packages whose answers are the same on every machine. Those of OR-Tools are not: its libraries compute.
var everywhere = []string{"./drf", "./alloc", "./alloc/embedded/...", "./alloc/internal/...", "./alloc/milp", "./alloc/milp/bb", "./alloc/mip", "./alloc/worth", "./alloc/solver",
	"./primaldual/...", "./growth/...", "./placement/..."}

func TestNothingIsFused(t *testing.T) {
	list, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: "../../.."}, everywhere...)
	if err != nil || len(list) < len(everywhere) {
		t.Fatal(len(list), err)
	}
	for _, p := range list {
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				for _, product := range terms(n, p.TypesInfo) {
					t.Errorf("%s: a product is not rounded before it is added", p.Fset.Position(product.Pos()))
				}
				return true
			})
		}
	}
}

// terms are the products of floats that a node adds or takes off as they are.
func terms(n ast.Node, info *types.Info) (products []ast.Expr) {
	var sides []ast.Expr
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.ADD || n.Op == token.SUB {
			sides = []ast.Expr{n.X, n.Y}
		}
	case *ast.AssignStmt:
		if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
			sides = n.Rhs
		}
	}
	for _, side := range sides {
		side = ast.Unparen(side)
		if minus, is := side.(*ast.UnaryExpr); is {
			side = ast.Unparen(minus.X)
		}
		product, is := side.(*ast.BinaryExpr)
		if !is || product.Op != token.MUL || info.Types[product].Value != nil {
			continue
		}
		if basic, is := info.TypeOf(product).Underlying().(*types.Basic); is && basic.Info()&types.IsFloat != 0 {
			products = append(products, product)
		}
	}
	return products
}
