#!/bin/sh
# Process 1 of one node, in separate mount and process namespaces: it runs containerd and kubelet. A kill of it ends
# every container of the node.
# worker.sh FOLDER STATE CGROUP KUBELET IMAGES...; the folder has containerd.toml, kubelet.yaml and kubeconfig.json.
set -u
folder=$1 state=$2 cgroup=$3 kubelet=$4
shift 4

# The node's control group. Version 1 needs one in each hierarchy, with CPUs and memory nodes, which new groups lack.
# A real node has its own CPUs, so other processes of this machine get few of them while pods need them.
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
  sed 's/[^ ]*/+&/g' /sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control
  mkdir -p "/sys/fs/cgroup/$cgroup"
  echo 800 >"/sys/fs/cgroup/$cgroup/cpu.weight"
else
  for hierarchy in /sys/fs/cgroup/*/; do
    mkdir -p "$hierarchy$cgroup" 2>/dev/null
  done
  for file in cpus mems; do
    cat "/sys/fs/cgroup/cpuset/cpuset.$file" >"/sys/fs/cgroup/cpuset/$cgroup/cpuset.$file" 2>/dev/null
  done
  echo 8192 >"/sys/fs/cgroup/cpu/$cgroup/cpu.shares"
fi

# Network namespaces of pods, whose names would otherwise outlive the node.
mount -t tmpfs tmpfs /run/netns
mkdir -p "$state"
containerd -c "$folder/containerd.toml" >"$folder/containerd.log" 2>&1 &
until ctr -a "$state/containerd.sock" version >/dev/null 2>&1; do sleep 0.1; done
for image in "$@"; do
  ctr -a "$state/containerd.sock" -n k8s.io images import "$image" >>"$folder/containerd.log" 2>&1
done
"$kubelet" --config "$folder/kubelet.yaml" --kubeconfig "$folder/kubeconfig.json" --hostname-override "$(cat "$folder/name")" \
  --node-ip "$(cat "$folder/address")" --root-dir "$folder/kubelet" --cert-dir "$folder/certificates" >>"$folder/kubelet.log" 2>&1 &
echo $! >"$folder/kubelet.pid"
wait
