package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/tenon-sh/tenon/"

// A changed package holds all its mutants at once.
type changed struct {
	path    string
	dir     string
	name    string
	files   map[string]string // what stands in a file instead, by its path
	mutants []mutant
}

// A mutant is one small change.
type mutant struct {
	at     token.Position
	within string // the function
	change string
	logic  bool // it turns a condition round, or leaves out a part of one
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d:%d %s: %s", filepath.Base(m.at.Filename), m.at.Line, m.at.Column, m.within, m.change)
}

// load reads a package and makes the mutants of what only finds.
func load(pattern string, only *regexp.Regexp) (*changed, error) {
	mode := packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedExportFile
	pkgs, err := packages.Load(&packages.Config{Mode: mode}, pattern)
	if err != nil {
		return nil, fmt.Errorf("load the package: %w", err)
	}
	if len(pkgs) != 1 || len(pkgs[0].Syntax) == 0 {
		return nil, fmt.Errorf("%d packages and no Go files to change: name one package", len(pkgs))
	}
	p := pkgs[0]
	if len(p.Errors) > 0 {
		return nil, p.Errors[0]
	}
	c := &changed{path: p.PkgPath, dir: filepath.Dir(p.GoFiles[0]), name: p.Name, files: map[string]string{}}
	for _, f := range p.Syntax {
		path := p.Fset.Position(f.Package).Filename
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the source: %w", err)
		}
		if strings.HasPrefix(string(src), "// Code generated") {
			continue
		}
		e := &editor{fset: p.Fset, info: p.TypesInfo, file: p.Fset.File(f.Package), src: string(src), all: &c.mutants}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || !only.MatchString(filepath.Base(path)+":"+fn.Name.Name) {
				continue
			}
			e.within = fn.Name.Name
			ast.Inspect(fn.Body, e.visit)
		}
		c.files[path] = e.result()
	}
	return c, nil
}

// An editor puts switches for mutants into the text of one file.
type editor struct {
	fset   *token.FileSet
	file   *token.File
	info   *types.Info
	src    string
	within string
	all    *[]mutant
	edits  []edit
}

// An edit puts text in the place of src[from:to]. Of those at one place closing
// ones come first, the inner before the outer, then opening ones, the outer first.
type edit struct {
	from, to int
	text     string
	rank     int
}

func (e *editor) add(at token.Pos, change string) int {
	*e.all = append(*e.all, mutant{at: e.fset.Position(at), within: e.within, change: change})
	return len(*e.all) - 1
}

func (e *editor) logic(x ast.Expr, change string) int {
	id := e.add(x.Pos(), change)
	(*e.all)[id].logic = true
	return id
}

func (e *editor) offset(p token.Pos) int { return e.file.Offset(p) }

// around puts text before and after a node, inside of what is put there for that whose part the node is.
func (e *editor) around(n ast.Node, before, after string) { e.wrap(n, before, after, 0) }

func (e *editor) wrap(n ast.Node, before, after string, outer int) {
	from, to := e.offset(n.Pos()), e.offset(n.End())
	size := 2*(to-from) + outer
	e.edits = append(e.edits, edit{from, from, before, 1<<30 - size}, edit{to, to, after, size - 1<<30})
}

// instead puts text in the place of what is between two positions.
func (e *editor) instead(from, to token.Pos, text string) {
	e.edits = append(e.edits, edit{e.offset(from), e.offset(to), text, math.MaxInt})
}

func (e *editor) result() string {
	slices.SortStableFunc(e.edits, func(a, b edit) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return cmp.Compare(a.rank, b.rank)
	})
	var b strings.Builder
	last := 0
	for _, d := range e.edits {
		b.WriteString(e.src[last:d.from])
		b.WriteString(d.text)
		last = d.to
	}
	b.WriteString(e.src[last:])
	return b.String()
}

func (e *editor) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.CONST
	case *ast.BinaryExpr:
		e.binary(n)
	case *ast.IfStmt:
		e.condition(n.Cond)
	case *ast.SwitchStmt:
		if n.Tag == nil {
			for _, c := range n.Body.List {
				if c, ok := c.(*ast.CaseClause); ok {
					for _, x := range c.List {
						e.condition(x)
					}
				}
			}
		}
	case *ast.UnaryExpr:
		if n.Op == token.SUB && e.number(n) {
			e.instead(n.OpPos, n.OpPos+1, "")
			e.around(n, fmt.Sprintf("mutantNeg(%d, ", e.add(n.OpPos, "-"+e.text(n.X)+" → "+e.text(n.X))), ")")
		}
	case *ast.IncDecStmt:
		if t, ok := e.info.Types[n.X]; ok && isNumber(t.Type) {
			id := e.add(n.TokPos, e.text(n)+" the other way")
			step := "Inc"
			if n.Tok == token.DEC {
				step = "Dec"
			}
			e.instead(n.TokPos, n.TokPos+2, fmt.Sprintf(" = mutant%s(%d, %s)", step, id, e.text(n.X)))
		}
	case *ast.AssignStmt:
		if (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) && e.number(n.Lhs[0]) {
			op, other := "Add", "-="
			if n.Tok == token.SUB_ASSIGN {
				op, other = "Sub", "+="
			}
			id := e.add(n.TokPos, e.text(n)+" → "+other)
			e.instead(n.TokPos, n.TokPos+2, fmt.Sprintf("= mutant%s(%d, %s,", op, id, e.text(n.Lhs[0])))
			e.around(n.Rhs[0], "", ")")
		}
	}
	return true
}

// condition turns a condition round that is neither a comparison, which is turned round anyway, nor made of others.
func (e *editor) condition(x ast.Expr) {
	b, compares := ast.Unparen(x).(*ast.BinaryExpr)
	if t, ok := e.info.Types[x]; !ok || t.Value != nil || compares && (b.Op == token.LAND || b.Op == token.LOR || negated[b.Op] != "") {
		return
	}
	e.wrap(x, "((", fmt.Sprintf(") != mutantOn(%d))", e.logic(x, e.text(x)+" → not")), 1)
}

// parts leaves out each of the two sides of a condition that is made of others.
func (e *editor) parts(n *ast.BinaryExpr) {
	for _, x := range []ast.Expr{n.X, n.Y} {
		if b, ok := ast.Unparen(x).(*ast.BinaryExpr); ok && b.Op == n.Op {
			continue // its own sides are
		}
		id := e.logic(x, e.text(n)+" without "+e.text(x))
		if n.Op == token.LAND {
			e.wrap(x, fmt.Sprintf("(mutantOn(%d) || ", id), ")", 1)
		} else {
			e.wrap(x, fmt.Sprintf("(!mutantOn(%d) && ", id), ")", 1)
		}
	}
}

var negated = map[token.Token]string{token.EQL: "!=", token.NEQ: "==", token.LSS: ">=", token.LEQ: ">", token.GTR: "<=", token.GEQ: "<"}

var edges = map[token.Token]struct{ name, sign string }{token.LSS: {"Less", "<="}, token.LEQ: {"LessEq", "<"}, token.GTR: {"More", ">="}, token.GEQ: {"MoreEq", ">"}}

var sums = map[token.Token]struct{ name, sign string }{token.ADD: {"Add", "-"}, token.SUB: {"Sub", "+"}, token.MUL: {"Mul", "/"}, token.QUO: {"Quo", "*"}, token.REM: {"Rem", "*"}}

func (e *editor) binary(n *ast.BinaryExpr) {
	if t, ok := e.info.Types[n]; !ok || t.Value != nil {
		return // a constant
	}
	if n.Op == token.LAND || n.Op == token.LOR {
		e.parts(n)
		return
	}
	if sign, ok := negated[n.Op]; ok {
		negate := e.add(n.OpPos, e.text(n)+" → "+sign)
		open, shut := "((", fmt.Sprintf(") != mutantOn(%d))", negate)
		if edge, ok := edges[n.Op]; ok {
			open = fmt.Sprintf("(mutant%s(%d, ", edge.name, e.add(n.OpPos, e.text(n)+" → "+edge.sign))
			e.instead(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), ",")
		}
		e.around(n, open, shut)
		return
	}
	if sum, ok := sums[n.Op]; ok && e.number(n) {
		id := e.add(n.OpPos, e.text(n)+" → "+sum.sign)
		e.instead(n.OpPos, n.OpPos+1, ",")
		e.around(n, fmt.Sprintf("mutant%s(%d, ", sum.name, id), ")")
	}
}

// number reports whether an expression is a number that is worked out when the program runs.
func (e *editor) number(x ast.Expr) bool {
	t, ok := e.info.Types[x]
	return ok && t.Value == nil && isNumber(t.Type)
}

func isNumber(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0 && b.Info()&types.IsUntyped == 0
}

// text is what stands in the source for a node, on one line.
func (e *editor) text(n ast.Node) string {
	return strings.Join(strings.Fields(e.src[e.offset(n.Pos()):e.offset(n.End())]), " ")
}
