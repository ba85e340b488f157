package charts

import "embed"

//go:embed all:karpenter all:karpenter-crd
var files embed.FS

// Files are the charts themselves, each in a folder of its name.
func Files() embed.FS { return files }
