import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { until } from '../../acceptance/client/until.ts'
import type { Credentials } from './credentials.ts'
import { Daemon } from './daemon.ts'
import { dnsAddress } from './dns.ts'
import type { ClusterNetwork } from './network.ts'
import { kubernetesPrograms, nodePackages } from './programs.ts'

/** Taint of a node that is off: its pods may start on other nodes. */
export const outOfService = 'node.kubernetes.io/out-of-service'
const readyTimeoutMs = 120_000
const cgroups = '/sys/fs/cgroup'
/** Reference of the pause image of each pod; it is never pulled. */
export const pauseImage = 'fxd.test/pause:1'

export interface WorkerDeps {
  readonly network: ClusterNetwork
  readonly credentials: Credentials
  readonly folder: string
  /** Paths of archives. */
  readonly images: readonly string[]
  readonly kubectl: (...args: readonly string[]) => Promise<string>
}

/** A node with a separate containerd and kubelet. `powerCut` loses its pods and their files. */
export class Worker {
  readonly name: string
  readonly address: string
  readonly #folder: string
  readonly #state: string
  readonly #cgroup: string
  readonly #daemon: Daemon
  readonly #kubectl: WorkerDeps['kubectl']

  /** `number` is from 1 to 3. */
  constructor(number: number, { network, credentials, folder, images, kubectl }: WorkerDeps) {
    this.name = `node${number}`
    this.address = network.nodeAddress(number)
    this.#folder = join(folder, this.name)
    this.#state = `/run/${network.name}-${this.name}`
    this.#cgroup = `${network.name}-${this.name}`
    this.#kubectl = kubectl
    network.addAddress(this.address)
    mkdirSync(this.#folder, { recursive: true })
    const packages = nodePackages()
    const files = {
      name: this.name,
      address: this.address,
      'containerd.toml': containerdConfig(this.#folder, this.#state, packages.networkPlugins),
      'kubelet.yaml': this.#kubeletConfig(number, credentials),
      'resolv.conf': `nameserver ${dnsAddress}\n`,
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.#folder, name), text)
    // With the node's own address, so that a test can isolate one node.
    copyFileSync(
      credentials.kubeconfig(`system:node:${this.name}`, 'system:nodes', this.address),
      join(this.#folder, 'kubeconfig.json'),
    )
    mkdirSync(join(this.#folder, 'cni'), { recursive: true })
    writeFileSync(join(this.#folder, 'cni/10-bridge.conflist'), bridge(number, network, this.#folder))
    const script = join(import.meta.dirname, 'worker.sh')
    const own = ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
    const { kubelet } = kubernetesPrograms()
    const args = [this.#folder, this.#state, this.#cgroup, kubelet, ...images]
    this.#daemon = new Daemon(
      this.name,
      network.enter(...own, script, ...args),
      join(this.#folder, 'node.log'),
      packages.env,
    )
  }

  /** Resolves once the node is ready. After a power cut its pods start again. */
  async start(): Promise<void> {
    this.#daemon.start()
    await until(
      `node ${this.name}`,
      async () => {
        if (!this.#daemon.isRunning) throw new Error(this.lastOutput())
        const path = '-o=jsonpath={.status.conditions[?(@.type=="Ready")].status}'
        return (await this.#kubectl('get', 'node', this.name, path)) === 'True'
      },
      readyTimeoutMs,
    )
  }

  /** Ends everything on the node at once, without notice to the API server. */
  async powerCut(): Promise<void> {
    await this.#daemon.kill()
    for (const hierarchy of ['.', ...readdirSync(cgroups)])
      removeGroups(join(cgroups, hierarchy, this.#cgroup))
    rmSync(this.#state, { recursive: true, force: true })
  }

  lastOutput(): string {
    const logs = ['node.log', 'containerd.log', 'kubelet.log'].map((name) => join(this.#folder, name))
    return logs
      .flatMap((path) => (existsSync(path) ? readFileSync(path, 'utf8').slice(-2_000) : []))
      .join('\n')
  }

  #kubeletConfig(number: number, credentials: Credentials): string {
    const config = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      address: this.address,
      // All nodes share one network namespace.
      healthzPort: 10_248 + 1_000 * number,
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: credentials.ca },
      },
      authorization: { mode: 'Webhook' },
      tlsCertFile: credentials.kubelet.cert,
      tlsPrivateKeyFile: credentials.kubelet.key,
      containerRuntimeEndpoint: `unix://${this.#state}/containerd.sock`,
      cgroupDriver: 'cgroupfs',
      cgroupRoot: `/${this.#cgroup}`,
      // Test machines may still have version 1.
      failCgroupV1: false,
      failSwapOn: false,
      // Interval at which pods get changed Secrets and ConfigMaps.
      syncFrequency: '5s',
      // Other values require CAP_SYS_RESOURCE.
      oomScoreAdj: 0,
      maxOpenFiles: 20_000,
      clusterDNS: [dnsAddress],
      clusterDomain: 'cluster.local',
      resolvConf: join(this.#folder, 'resolv.conf'),
      podLogsDir: join(this.#folder, 'pod-logs'),
      enforceNodeAllocatable: [],
      evictionHard: {
        'memory.available': '100Mi',
        'nodefs.available': '0%',
        'imagefs.available': '0%',
        'nodefs.inodesFree': '0%',
      },
      imageGCHighThresholdPercent: 100,
    }
    return JSON.stringify(config)
  }
}

const bridge = (number: number, network: ClusterNetwork, folder: string): string =>
  JSON.stringify({
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: `cni${number}`,
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: network.podRangeOf(number) }]],
          routes: [{ dst: '0.0.0.0/0' }],
          dataDir: join(folder, 'addresses'),
        },
      },
    ],
  })

const containerdConfig = (folder: string, state: string, plugins: string): string => `version = 2
root = "${folder}/containerd"
state = "${state}"
oom_score = 0
[grpc]
  address = "${state}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${plugins}"
    conf_dir = "${folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`

/** Removes nested groups first, as the kernel requires. */
function removeGroups(path: string): void {
  if (!existsSync(path)) return
  for (const each of readdirSync(path, { withFileTypes: true }))
    if (each.isDirectory()) removeGroups(join(path, each.name))
  try {
    rmdirSync(path)
  } catch {
    // A process of the group is still ending. The next start reuses the group.
  }
}
