// Package playground runs a whole cluster on one machine to try things on, and lets other processes talk to it.
//
// It is a process of its own that owns a directory. Its children cannot outlive it, so whatever way it ends, the
// directory can be used again.
package playground

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/tenon-sh/tenon/internal/kube"
)

// DefaultDir is where a playground keeps its state unless a flag says otherwise.
const DefaultDir = ".tenon"

// A Dir is the directory of a playground.
type Dir string

// Kubeconfig is the file by which the cluster is used.
func (d Dir) Kubeconfig() string { return d.join("kubeconfig") }

// Log is a file of the directory of logs.
func (d Dir) Log(name string) string { return d.join("log", name+".log") }

// near is the directory of the playground that a command without --dir is about: that of the working directory, or else
// that of the nearest folder above it where there is one. The files of a document, where its commands are typed, are below it.
func near(dir string) Dir {
	at, err := os.Getwd()
	if dir != DefaultDir || err != nil || Dir(dir).there() {
		return Dir(dir)
	}
	for ; at != filepath.Dir(at); at = filepath.Dir(at) {
		if d := Dir(filepath.Join(at, DefaultDir)); d.there() {
			return d
		}
	}
	return Dir(dir)
}

// there reports whether a playground has ever been in the directory.
func (d Dir) there() bool {
	_, err := os.Stat(d.lock())
	return err == nil
}

func (d Dir) awsEnvironment() string { return d.join("aws.env") }
func (d Dir) pool() string           { return d.join("default.yaml") }
func (d Dir) machines() string       { return d.join("machines.json") }

func (d Dir) cluster() string { return d.join("cluster") }
func (d Dir) lock() string    { return d.join("lock") }
func (d Dir) contact() string { return d.join("contact.json") }

func (d Dir) join(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}

// RunningError says that a directory is in use.
type RunningError struct {
	Dir Dir
	PID int
}

func (e RunningError) Error() string {
	return fmt.Sprintf("a playground runs in %s already (process %d); use it, stop it with `tenon down --dir %s`, or choose another directory with --dir", e.Dir, e.PID, e.Dir)
}

// own makes the directory and takes it for this process, until release is called or the process ends in whatever way.
func (d Dir) own() (release func(), err error) {
	if err := os.MkdirAll(d.join("log"), 0o700); err != nil {
		return nil, fmt.Errorf("directory of the playground: %w; choose another with --dir", err)
	}
	f, err := os.OpenFile(d.lock(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("directory of the playground: %w; choose another with --dir", err)
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		defer f.Close()
		return nil, RunningError{Dir: d, PID: d.owner()}
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", d.lock(), err)
	}
	pid := strconv.Itoa(os.Getpid())
	if err := errors.Join(f.Truncate(0), writeAt(f, pid+"\n")); err != nil {
		f.Close()
		return nil, fmt.Errorf("directory of the playground: %w", err)
	}
	return func() { f.Close() }, nil
}

// roomy says what is wrong if the disk has too little room left for a playground.
func (d Dir) roomy() error {
	if err := kube.Room(string(d)); err != nil {
		return fmt.Errorf("directory of the playground: %w with --dir", err)
	}
	return nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// owner is the process that took the directory last.
func (d Dir) owner() int {
	text, err := os.ReadFile(d.lock())
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// inUse reports whether a process has the directory now.
func (d Dir) inUse() bool {
	f, err := os.Open(d.lock())
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// reset removes what the playground has kept, and nothing that it did not make.
func (d Dir) reset() error {
	for _, name := range []string{"cluster", "kubeconfig", "contact.json", "aws.env", "default.yaml", "machines.json", "pods", "log"} {
		if err := os.RemoveAll(d.join(name)); err != nil {
			return fmt.Errorf("reset the playground: %w", err)
		}
	}
	return os.MkdirAll(d.join("log"), 0o700)
}

// A Contact is how other processes of the same user reach a playground.
type Contact struct {
	URL        string `json:"url"`
	Token      string `json:"token"`
	PID        int    `json:"pid"`
	Kubeconfig string `json:"kubeconfig"`
	APIServer  string `json:"apiServer"`
	AWS        string `json:"aws"`              // endpoint of the simulated account
	Charts     string `json:"charts,omitempty"` // host and port of the chart repository
	Pages      string `json:"pages,omitempty"`  // of the controller that leads
	Pools      bool   `json:"pools,omitempty"`  // there are NodePools or Provisioners
}

// writeWhole writes a file in one step, for its owner alone.
func writeWhole(file string, data []byte) error {
	half := file + ".new"
	if err := os.WriteFile(half, data, 0o600); err != nil {
		return err
	}
	return os.Rename(half, file)
}

func (d Dir) writeContact(c Contact) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(d.contact(), append(data, '\n'))
}

// openLog opens a log to append to. A long one is put aside first, in place of the one put aside before.
func (d Dir) openLog(name string) (*os.File, error) {
	const long = 16 << 20
	if info, err := os.Stat(d.Log(name)); err == nil && info.Size() > long {
		if err := os.Rename(d.Log(name), d.Log(name)+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(d.Log(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
