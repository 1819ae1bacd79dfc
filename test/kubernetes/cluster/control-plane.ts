import { join } from 'node:path'
import { until } from '../../acceptance/client/until.ts'
import type { Credentials } from './credentials.ts'
import { Daemon } from './daemon.ts'
import type { ClusterNetwork } from './network.ts'
import { kubernetesPrograms } from './programs.ts'

const startTimeoutMs = 120_000
const serviceRange = '10.96.0.0/16'

export interface ControlPlane {
  /**
   * Kills the API server and the controller manager. A real controller manager exits when its lease expires.
   * One that continued would treat all nodes as lost afterwards, because they could not report.
   */
  killApi(): Promise<void>
  /** Starts both again. Resolves once the API server answers `/readyz`. */
  startApi(): Promise<void>
  stop(): Promise<void>
}

export interface ControlPlaneDeps {
  readonly network: ClusterNetwork
  readonly credentials: Credentials
  readonly folder: string
  /** Runs kubectl as the administrator. Rejects when it fails. */
  readonly kubectl: (...args: readonly string[]) => Promise<string>
}

/** Starts etcd, API server, controller manager and scheduler. Resolves once they work; rejects if they ended. */
export async function startControlPlane(deps: ControlPlaneDeps): Promise<ControlPlane> {
  const { network, folder, kubectl } = deps
  const programs = kubernetesPrograms()
  const daemon = (name: string, program: string, options: Readonly<Record<string, string>>): Daemon =>
    new Daemon(name, network.enter(program, ...argumentsOf(options)), join(folder, `${name}.log`))

  const etcd = daemon('etcd', programs.etcd, etcdOptions(folder))
  const apiServer = daemon('kube-apiserver', programs['kube-apiserver'], apiServerOptions(deps))
  const controllerManager = daemon(
    'kube-controller-manager',
    programs['kube-controller-manager'],
    controllerManagerOptions(deps),
  )
  const schedulerConfig = deps.credentials.kubeconfig('system:kube-scheduler')
  const scheduler = daemon('kube-scheduler', programs['kube-scheduler'], clientOptions(schedulerConfig))

  const ready = async (): Promise<void> => {
    await until(
      'the API server',
      async () => {
        if (!apiServer.isRunning) throw new Error(apiServer.lastOutput())
        return (await kubectl('get', '--raw=/readyz')) === 'ok'
      },
      startTimeoutMs,
    )
  }
  const killApi = async (): Promise<void> => {
    for (const each of [controllerManager, apiServer]) await each.kill()
  }
  const startApi = async (): Promise<void> => {
    apiServer.start()
    await ready()
    // Before the API server has created its rights it would exit.
    controllerManager.start()
  }
  // The API server is stopped before etcd, because without etcd it would not end by itself.
  const stop = async (): Promise<void> => {
    for (const each of [scheduler, controllerManager, apiServer, etcd]) await each.kill()
  }
  try {
    etcd.start()
    await startApi()
    scheduler.start()
    await until(
      'the default service account',
      () => kubectl('get', 'serviceaccount', 'default').then(() => true),
      startTimeoutMs,
    )
  } catch (cause) {
    await stop()
    throw cause
  }
  return { killApi, startApi, stop }
}

const argumentsOf = (options: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(options).map(([name, value]) => `--${name}=${value}`)

const etcdOptions = (folder: string) => ({
  'data-dir': join(folder, 'etcd'),
  'listen-client-urls': 'http://127.0.0.1:2379',
  'advertise-client-urls': 'http://127.0.0.1:2379',
  'listen-peer-urls': 'http://127.0.0.1:2380',
  'initial-advertise-peer-urls': 'http://127.0.0.1:2380',
  'initial-cluster': 'default=http://127.0.0.1:2380',
  // Safe, because the cluster need not survive a crash of the machine.
  'unsafe-no-fsync': 'true',
  'log-level': 'warn',
})

const apiServerOptions = ({ network, credentials }: ControlPlaneDeps) => ({
  'etcd-servers': 'http://127.0.0.1:2379',
  'advertise-address': network.address,
  'secure-port': '6443',
  'allow-privileged': 'true',
  'authorization-mode': 'Node,RBAC',
  'enable-admission-plugins': 'NodeRestriction',
  'service-cluster-ip-range': serviceRange,
  'client-ca-file': credentials.ca,
  'tls-cert-file': credentials.apiServer.cert,
  'tls-private-key-file': credentials.apiServer.key,
  'service-account-issuer': 'https://kubernetes.default.svc',
  'service-account-key-file': credentials.accountsKey,
  'service-account-signing-key-file': credentials.accountsKey,
  'kubelet-client-certificate': credentials.kubeletClient.cert,
  'kubelet-client-key': credentials.kubeletClient.key,
  'kubelet-certificate-authority': credentials.ca,
  'kubelet-preferred-address-types': 'InternalIP',
  'requestheader-client-ca-file': credentials.ca,
  'requestheader-allowed-names': 'front-proxy',
  'requestheader-username-headers': 'X-Remote-User',
  'requestheader-group-headers': 'X-Remote-Group',
  'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
  'proxy-client-cert-file': credentials.frontProxy.cert,
  'proxy-client-key-file': credentials.frontProxy.key,
  'enable-aggregator-routing': 'true',
})

const clientOptions = (kubeconfig: string) => ({
  kubeconfig,
  'authentication-kubeconfig': kubeconfig,
  'authorization-kubeconfig': kubeconfig,
  'leader-elect': 'false',
})

const controllerManagerOptions = ({ credentials }: ControlPlaneDeps) => ({
  ...clientOptions(credentials.kubeconfig('system:kube-controller-manager')),
  'use-service-account-credentials': 'true',
  'service-account-private-key-file': credentials.accountsKey,
  'root-ca-file': credentials.ca,
  'cluster-signing-cert-file': credentials.ca,
  'cluster-signing-key-file': credentials.caKey,
  controllers: '*,-cloud-node-lifecycle-controller',
  'horizontal-pod-autoscaler-sync-period': '5s',
  'node-monitor-grace-period': '20s',
})
