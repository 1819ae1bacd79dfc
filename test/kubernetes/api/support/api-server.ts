import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { until } from '../../../acceptance/client/until.ts'
import { CertificateFixture } from '../../../support/fixtures/certificate-fixture.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { Daemon } from '../../cluster/daemon.ts'
import { kubernetesPrograms } from '../../cluster/programs.ts'
import { refusal } from '../../cluster/refusal.ts'
import { Admin } from './admin.ts'
import { kinds } from './kinds.ts'

/** An API server without nodes: it validates and stores objects, but no pods run. */
export interface ApiServer {
  readonly url: string
  /** PEM file of its authority; below, a certificate with key for 127.0.0.1 by that authority. */
  readonly ca: string
  readonly cert: string
  readonly key: string
  readonly adminToken: string
  /** Token of a user without rights. */
  readonly operatorToken: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    apiServer: ApiServer
  }
}

const startTimeoutMs = 120_000
const admin = { token: 'the-token-of-the-administrator', user: 'admin', group: 'system:masters' }
export const operatorUser = 'operator'
const controllers = [
  'garbage-collector-controller',
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
]

export interface RunningApiServer extends ApiServer {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string
  stop(): Promise<void>
}

/** Starts etcd, API server and controller manager for all files of the suite. Returns a function that stops them. */
export default async function start(project: TestProject): Promise<() => Promise<void>> {
  const reason = refusal()
  if (reason !== undefined)
    process.stderr.write(`Kubernetes is tested without nodes, and pods are processes: ${reason}.\n`)
  const { stop, ...server } = await startApiServer()
  project.provide('apiServer', server)
  return stop
}

/** Starts with these controllers in addition to those of workloads. Resolves once the kinds are served. */
export async function startApiServer(...more: readonly string[]): Promise<RunningApiServer> {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-api-server-'))
  const certificates = new CertificateFixture()
  const [clientPort = 0, peerPort = 0, port = 0] = await freePorts(3)
  const programs = kubernetesPrograms()
  const daemon = (name: keyof typeof programs, options: Readonly<Record<string, string>>): Daemon => {
    const words = Object.entries(options).map(([option, value]) => `--${option}=${value}`)
    return new Daemon(name, [programs[name], ...words], join(folder, `${name}.log`))
  }
  const ca = certificates.authority('ours')
  const { cert, key } = certificates.certificate('api-server')
  const accounts = certificates.path('accounts.key')
  execFileSync('openssl', ['genrsa', '-out', accounts, '2048'], { stdio: 'pipe' })
  const operatorToken = 'the-token-of-the-operator'
  const tokens = certificates.path('tokens.csv')
  writeFileSync(
    tokens,
    `${admin.token},${admin.user},1,"${admin.group}"\n${operatorToken},${operatorUser},2\n`,
  )
  mkdirSync(join(folder, 'certificates'))
  const etcdUrl = `http://127.0.0.1:${clientPort}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  const etcd = daemon('etcd', {
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': etcdUrl,
    'advertise-client-urls': etcdUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
    'unsafe-no-fsync': 'true',
    'log-level': 'warn',
  })
  const apiServer = daemon('kube-apiserver', {
    'etcd-servers': etcdUrl,
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'endpoint-reconciler-type': 'none',
    'secure-port': String(port),
    'cert-dir': join(folder, 'certificates'),
    'authorization-mode': 'RBAC',
    'disable-admission-plugins': 'ServiceAccount',
    'service-cluster-ip-range': '10.97.0.0/16',
    'token-auth-file': tokens,
    'tls-cert-file': cert,
    'tls-private-key-file': key,
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': accounts,
    'service-account-signing-key-file': accounts,
  })
  const url = `https://127.0.0.1:${port}`
  const kubeconfig = certificates.path('admin.json')
  writeKubeconfig(kubeconfig, { url, ca, token: admin.token })
  const controllerManager = daemon('kube-controller-manager', {
    kubeconfig,
    'leader-elect': 'false',
    'secure-port': '0',
    controllers: [...controllers, ...more].join(','),
    'kube-api-qps': '200',
    'kube-api-burst': '400',
  })
  const stop = async (): Promise<void> => {
    for (const each of [controllerManager, apiServer, etcd]) await each.kill()
    certificates.remove()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const client = new Admin(url, ca, admin.token)
    etcd.start()
    apiServer.start()
    await until(
      'the API server',
      async () => {
        if (!apiServer.isRunning) throw new Error(apiServer.lastOutput())
        return (await client.ask('GET', '/readyz').catch(() => undefined)) === 'ok'
      },
      startTimeoutMs,
    )
    controllerManager.start()
    await applyKinds(client)
  } catch (cause) {
    await stop()
    throw cause
  }
  return { url, ca, cert, key, adminToken: admin.token, operatorToken, kubeconfig, stop }
}

/** Resolves once the kinds of the chart are served. */
export async function applyKinds(client: Admin): Promise<void> {
  for (const kind of kinds())
    await client.apply('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', kind)
  await until(
    'the kinds',
    async () => {
      const found = await client
        .ask<{ resources?: unknown[] }>('GET', '/apis/marketdata.fxd.dev/v1alpha1')
        .catch(() => ({ resources: [] }))
      return (found.resources?.length ?? 0) >= 6
    },
    startTimeoutMs,
  )
}

/** Writes a kubeconfig for a user with this token. */
export function writeKubeconfig(
  path: string,
  { url, ca, token, namespace = 'default' }: { url: string; ca: string; token: string; namespace?: string },
): void {
  const name = 'test'
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority': ca } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    'current-context': name,
  }
  writeFileSync(path, JSON.stringify(config))
}
