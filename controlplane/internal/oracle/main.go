package oracle

import (
	"bufio"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"k8s.io/klog/v2"
)

// Main answers the cases on standard input. It ends with 1 if any plan was wrong.
func Main([]string) int {
	debug.SetGCPercent(1000) // a case is small, and nothing of it stays
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	wrong, err := run(context.Background(), os.Stdin, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "oracle:", err)
		return 2
	case wrong > 0:
		return 1
	}
	return 0
}

func run(ctx context.Context, in io.Reader, out io.Writer) (int, error) {
	reader := bufio.NewReaderSize(in, 1<<20)
	writer := bufio.NewWriter(out)
	encoder, decoder := gob.NewEncoder(writer), gob.NewDecoder(reader)
	judge, err := NewJudge(ctx)
	if err != nil {
		return 0, err
	}
	wrong := 0
	for {
		var w Written
		err := decoder.Decode(&w)
		if err == io.EOF {
			return wrong, writer.Flush()
		}
		if err != nil {
			return wrong, fmt.Errorf("read case: %w", err)
		}
		c, err := read(w)
		if err != nil {
			return wrong, fmt.Errorf("read case: %w", err)
		}
		v := judge.Try(ctx, c)
		if v.Error != "" || len(v.Wrong)+len(v.Possible) > 0 {
			wrong++
		}
		if err := encoder.Encode(v); err != nil {
			return wrong, fmt.Errorf("write verdict: %w", err)
		}
		if err := writer.Flush(); err != nil {
			return wrong, err
		}
	}
}
