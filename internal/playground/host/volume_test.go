package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Volumes of a pod are directories of this computer, which its process is told of instead of its own paths.
func TestVolumes(t *testing.T) {
	data := map[string]map[string]string{"configmap/settings": {"a.yaml": "a: 1"}, "secret/tls": {"ca.crt": "PEM", "key": "secret"}}
	look := func(kind, name string) (map[string]string, bool, error) {
		m, ok := data[kind+"/"+name]
		return m, ok, nil
	}
	volume := func(name string, s corev1.VolumeSource) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: s}
	}
	p := &corev1.Pod{Spec: corev1.PodSpec{
		Volumes: []corev1.Volume{
			volume("recording", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}),
			volume("settings", corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}),
			volume("tls", corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls", Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "deep/ca.pem"}}}}),
			volume("host", corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc"}}),
		},
		Containers: []corev1.Container{{VolumeMounts: []corev1.VolumeMount{
			{Name: "recording", MountPath: "/recording/"}, {Name: "settings", MountPath: "/etc/tenon"}, {Name: "tls", MountPath: "/etc/tenon/tls"}, {Name: "host", MountPath: "/host"},
		}}},
	}}
	dir := t.TempDir()
	all, err := mounts(p, dir, look)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"/recording/day.rec":               filepath.Join(dir, "volumes/recording/day.rec"),
		"--record-file=/recording/day.rec": "--record-file=" + filepath.Join(dir, "volumes/recording/day.rec"),
		"/recordings/day.rec":              "/recordings/day.rec",
		"/host/passwd":                     "/host/passwd",
		"team=/recording":                  "team=/recording",
	} {
		if got := outside(text, all); got != want {
			t.Errorf("%s is %s on this computer, want %s", text, got, want)
		}
	}
	for path, want := range map[string]string{"/etc/tenon/a.yaml": "a: 1", "/etc/tenon/tls/deep/ca.pem": "PEM"} {
		if got, err := os.ReadFile(outside(path, all)); string(got) != want {
			t.Errorf("%s reads %q, %v", path, got, err)
		}
	}
	if left, err := os.ReadDir(outside("/etc/tenon/tls", all)); err != nil || len(left) != 1 {
		t.Errorf("of the Secret there is %v, %v", left, err)
	}
	delete(data, "secret/tls")
	if _, err := mounts(p, dir, look); err == nil || !strings.Contains(err.Error(), `volume tls: secret "tls" not found`) {
		t.Errorf("without the Secret it says %v", err)
	}
}
