# Not in document 003, whose script submits the job to EMR.
kubectl create namespace emr-karpenter
until kubectl get serviceaccount default -n emr-karpenter > /dev/null 2>&1; do sleep 0.2; done
pod() { # template, name, cpu, memory: what Spark adds to a template
  sed -e "s|^kind: Pod|kind: Pod\nmetadata: {name: $2, namespace: emr-karpenter}|" \
      -e "s|^  containers:|&\n  - {name: fluentd, image: emr-fluentd}|" \
      -e "s|^  nodeSelector:|  nodeSelector:\n    app: kspark|" \
      -e "s|^  - name: spark-kubernetes-.*|&\n    image: emr-6.5.0\n    resources: {requests: {cpu: $3, memory: $4}}|" $1
  echo ---
}
kubectl create -f - <<EOF
apiVersion: v1
kind: Pod
metadata: {name: 000000032bqpqgfmbe4-7zb87, namespace: emr-karpenter}
spec:
  containers:
  - {name: job-runner, image: emr-job-runner}
  - {name: fluentd, image: emr-fluentd}
  - {name: heartbeat, image: emr-heartbeat}
EOF
pod 003-karpenter-driver-pod-template.yaml driver 1 2Gi | kubectl create -f -
for second in 0 1 2 3 4 5 6 7 8 9; do
  for i in 1 2 3 4 5; do
    pod 003-karpenter-executor-pod-template.yaml karpenter-4vcpu-7gb-exec-$((5 * second + i)) 4 7884Mi
  done | kubectl create -f - > /dev/null
  sleep 1
done
