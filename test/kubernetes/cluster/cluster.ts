import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ControlPlane, startControlPlane } from './control-plane.ts'
import { Credentials } from './credentials.ts'
import { Daemon } from './daemon.ts'
import { startDns } from './dns.ts'
import { type IngressController, startIngress } from './ingress.ts'
import { type Kubectl, run } from './kubectl.ts'
import { ClusterNetwork } from './network.ts'
import { kubernetesPrograms, nodePackages } from './programs.ts'
import { persistentVolumes } from './volumes.ts'
import { Worker } from './worker.ts'

export interface KubernetesCluster {
  readonly network: ClusterNetwork
  readonly credentials: Credentials
  readonly controlPlane: ControlPlane
  readonly ingress: IngressController
  readonly nodes: readonly Worker[]
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string
  /** Folder with all logs and files. */
  readonly folder: string
  readonly kubectl: Kubectl
  readonly helm: Kubectl
  /** Server-side apply. */
  apply(...objects: readonly object[]): Promise<void>
  stop(): Promise<void>
}

export interface KubernetesClusterOptions {
  readonly nodes: number
  /** Paths of archives whose images each node gets. */
  readonly images: readonly string[]
  /** Folder that is kept after the end; absent: a temporary one. */
  readonly folder?: string
}

/** Starts a real cluster in a separate network namespace. Resolves once its nodes are ready. Requires root. */
export async function startKubernetes(options: KubernetesClusterOptions): Promise<KubernetesCluster> {
  const network = await ClusterNetwork.open()
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'fxd-kubernetes-'))
  mkdirSync(folder, { recursive: true })
  const credentials = new Credentials(network)
  const kubeconfig = credentials.kubeconfig('administrator', 'system:masters')
  const programs = kubernetesPrograms()
  const kubectl: Kubectl = (...args) => run([programs.kubectl, `--kubeconfig=${kubeconfig}`, ...args])
  const helm: Kubectl = (...args) =>
    run([programs.helm, ...args], { env: { KUBECONFIG: kubeconfig, HELM_CACHE_HOME: folder } })
  const apply = async (...objects: readonly object[]): Promise<void> => {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
    await run([programs.kubectl, `--kubeconfig=${kubeconfig}`, 'apply', '--server-side', '-f', '-'], {
      input,
    })
  }

  const stops: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (const each of stops.toReversed()) await each()
    network.remove()
    credentials.remove()
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
  }
  try {
    const deps = { network, credentials, folder, kubectl, apply }
    const controlPlane = await startControlPlane(deps)
    stops.push(() => controlPlane.stop())
    await apply(...persistentVolumes(folder))
    const proxy = kubeProxy(network, credentials, folder)
    proxy.start()
    stops.push(() => proxy.kill())
    const dns = await startDns(deps)
    stops.push(() => dns.kill())
    const nodes = Array.from(
      { length: options.nodes },
      (_, i) => new Worker(i + 1, { ...deps, images: options.images }),
    )
    stops.push(async () => void (await Promise.all(nodes.map((node) => node.powerCut()))))
    const starting = startIngress(deps)
    // If a node fails, the ingress may not have started yet.
    stops.push(() => starting.then((ingress) => ingress.stop()).catch(() => undefined))
    const [ingress] = await Promise.all([starting, ...nodes.map((node) => node.start())])
    return {
      network,
      credentials,
      controlPlane,
      ingress,
      nodes,
      kubeconfig,
      folder,
      kubectl,
      helm,
      apply,
      stop,
    }
  } catch (cause) {
    await stop()
    throw cause
  }
}

/** kube-proxy of all nodes, which share one network namespace. */
function kubeProxy(network: ClusterNetwork, credentials: Credentials, folder: string): Daemon {
  const command = network.enter(
    kubernetesPrograms()['kube-proxy'],
    `--kubeconfig=${credentials.kubeconfig('system:kube-proxy')}`,
    '--hostname-override=node1',
    '--proxy-mode=nftables',
    `--cluster-cidr=${network.podRange}`,
    // Other values require CAP_SYS_RESOURCE.
    '--conntrack-max-per-core=0',
    '--oom-score-adj=0',
  )
  return new Daemon('kube-proxy', command, join(folder, 'kube-proxy.log'), nodePackages().env)
}
