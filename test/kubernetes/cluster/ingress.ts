import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../acceptance/client/until.ts'
import type { Pair } from '../../support/fixtures/certificate-fixture.ts'
import type { Credentials } from './credentials.ts'
import { Daemon } from './daemon.ts'
import { type Kubectl, run } from './kubectl.ts'
import type { ClusterNetwork } from './network.ts'
import { contourProgram, contourSource, envoyProgram } from './programs.ts'

const startTimeoutMs = 60_000
export const ingressClass = 'contour'
/** The Gateway that HTTPRoutes name as their parent, in the namespace `ingress`. */
export const gateway = { name: 'gateway', namespace: 'ingress' }
/** DNS name in the certificate of the ingress. */
export const domain = 'fxd.test'
/** Ports of Envoy. */
export const ports = { http: 8080, https: 8443 }

export interface IngressDeps {
  readonly network: ClusterNetwork
  readonly credentials: Credentials
  readonly folder: string
  readonly kubectl: Kubectl
  readonly apply: (...objects: readonly object[]) => Promise<void>
}

export interface IngressController {
  /** File with one line per request. */
  readonly accessLog: string
  stop(): Promise<void>
}

/** Starts Contour and Envoy in the cluster's network. They serve Ingress objects and a Gateway, with TLS. */
export async function startIngress(deps: IngressDeps): Promise<IngressController> {
  const { network, credentials, folder, kubectl, apply } = deps
  const contour = contourProgram()
  const kinds = ['contour/01-crds.yaml', 'gateway/00-crds.yaml'].map((file) =>
    join(contourSource(), 'examples', file),
  )
  await kubectl('apply', '--server-side', ...kinds.flatMap((file) => ['-f', file]))
  await apply(...objects(credentials))
  const config = join(folder, 'contour.json')
  writeFileSync(
    config,
    JSON.stringify({
      'accesslog-format': 'json',
      // Without the query, which may contain keys.
      'json-fields': [
        'start_time',
        'method',
        'path=%REQ_WITHOUT_QUERY(:PATH)%',
        'response_code',
        'response_flags',
        'duration',
        'upstream_host',
      ],
      gateway: { gatewayRef: gateway },
    }),
  )
  const bootstrap = join(folder, 'envoy.json')
  const xds = ['--xds-address', '127.0.0.1', '--xds-port', '8001']
  await run([contour, 'bootstrap', bootstrap, ...xds, '--admin-address', join(folder, 'envoy.sock')])
  const kubeconfig = credentials.kubeconfig('contour', 'system:masters')
  const accessLog = join(folder, 'envoy.log')
  const daemons = [
    new Daemon(
      'contour',
      network.enter(
        contour,
        'serve',
        `--kubeconfig=${kubeconfig}`,
        '--insecure',
        '--xds-address=127.0.0.1',
        `--ingress-class-name=${ingressClass}`,
        '--disable-leader-election',
        `--config-path=${config}`,
      ),
      join(folder, 'contour.log'),
    ),
    new Daemon(
      'envoy',
      network.enter(
        envoyProgram(),
        '--config-path',
        bootstrap,
        '--service-cluster',
        'ingress',
        '--service-node',
        'envoy',
        '--log-level',
        'warn',
        '--disable-hot-restart',
        '--concurrency',
        '1',
      ),
      accessLog,
    ),
  ]
  for (const each of daemons) each.start()
  await until(
    'the Gateway',
    async () => {
      const stopped = daemons.find(({ isRunning }) => !isRunning)
      if (stopped) throw new Error(`${stopped.name} ended: ${stopped.lastOutput()}`)
      const status = '-o=jsonpath={.status.conditions[?(@.type=="Programmed")].status}'
      return (await kubectl('get', 'gateway', '-n', gateway.namespace, gateway.name, status)) === 'True'
    },
    startTimeoutMs,
  ).catch(async (cause: unknown) => {
    for (const each of daemons) await each.kill()
    throw cause
  })
  return {
    accessLog,
    stop: async () => {
      for (const each of daemons) await each.kill()
    },
  }
}

function objects(credentials: Credentials): readonly object[] {
  const pair = credentials.forNames('ingress', domain, `*.${domain}`)
  const allowedRoutes = { namespaces: { from: 'All' } }
  const { namespace } = gateway
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'projectcontour' } },
    tlsSecret('tls', namespace, pair),
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'contour' },
      spec: { controllerName: 'projectcontour.io/gateway-controller' },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: gateway,
      spec: {
        gatewayClassName: 'contour',
        listeners: [
          { name: 'http', port: 80, protocol: 'HTTP', allowedRoutes },
          {
            name: 'https',
            port: 443,
            protocol: 'HTTPS',
            hostname: `*.${domain}`,
            tls: { mode: 'Terminate', certificateRefs: [{ name: 'tls' }] },
            allowedRoutes,
          },
        ],
      },
    },
  ]
}

/** A Secret of type kubernetes.io/tls from PEM files. Clients trust its `authority`, if given. */
export function tlsSecret(name: string, namespace: string, { cert, key }: Pair, authority?: Buffer): object {
  const encoded = (path: string): string => readFileSync(path).toString('base64')
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    type: 'kubernetes.io/tls',
    data: {
      'tls.crt': encoded(cert),
      'tls.key': encoded(key),
      ...(authority && { 'ca.crt': authority.toString('base64') }),
    },
  }
}
