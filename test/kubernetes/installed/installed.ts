import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KubernetesCluster, startKubernetes } from '../cluster/cluster.ts'
import { domain, gateway, ingressClass, ports, tlsSecret } from '../cluster/ingress.ts'
import { pauseImage } from '../cluster/worker.ts'
import { buildImage, buildPauseImage } from '../image/build-image.ts'
import { type OutsideStores, startStores } from './stores.ts'

export const charts = join(import.meta.dirname, '../../../charts')
export const namespace = 'fxd'
/** Name of the Feed whose terminal may post through the Ingress. */
export const terminalFeed = 'terminal'
const imageName = 'fxd:test'
const helmTimeout = '5m'

export interface Installed {
  readonly cluster: KubernetesCluster
  readonly stores: OutsideStores
  /** URL of REST and WebSocket through the Ingress. */
  readonly url: string
  /** PEM file of the authority that signed the certificate of the ingress. */
  readonly ca: string
  /** Installs the chart again with further values, and waits as `helm install` does. */
  upgrade(more: object, ...flags: readonly string[]): Promise<void>
  stop(): Promise<void>
}

export interface InstalledOptions {
  readonly nodes?: number
  /** Makes archives of further images in this folder. Returns their paths. */
  readonly images?: (into: string) => Promise<readonly string[]>
  /** A file of values on which these tests build. */
  readonly valuesFile?: string
  /** Starts the stores; default: `startStores`. */
  readonly stores?: (cluster: KubernetesCluster, namespace: string) => Promise<OutsideStores>
  /** Makes the objects that further values of the chart name. Returns these values. */
  readonly prepare?: (cluster: KubernetesCluster) => Promise<object>
}

/** Starts a cluster with both charts installed. Resolves once the service answers through the ingress. */
export async function startInstalled(options: InstalledOptions = {}): Promise<Installed> {
  const archives = mkdtempSync(join(tmpdir(), 'fxd-images-'))
  const images = [
    await buildPauseImage(pauseImage, archives),
    await buildImage(imageName, archives),
    ...((await options.images?.(archives)) ?? []),
  ]
  const cluster = await startKubernetes({ nodes: options.nodes ?? 2, images }).finally(() =>
    rmSync(archives, { recursive: true, force: true }),
  )
  try {
    await cluster.kubectl('create', 'namespace', namespace)
    const stores = await (options.stores ?? startStores)(cluster, namespace)
    try {
      await cluster.apply(tlsSecret('fxd-tls', namespace, cluster.credentials.forNames('service', domain)))
      const values = join(cluster.folder, 'values.json')
      const prepared = await options.prepare?.(cluster)
      writeFileSync(values, JSON.stringify({ ...valuesOf(cluster), ...stores.values, ...prepared }))
      await cluster.helm('install', 'fxd-crds', join(charts, 'fxd-crds'), '--wait')
      const files = [options.valuesFile ?? [], values].flat().flatMap((file) => ['-f', file])
      const chart = ['fxd', join(charts, 'fxd'), '-n', namespace, ...files]
      const waiting = ['--wait', `--timeout=${helmTimeout}`]
      await cluster.helm('install', ...chart, ...waiting)
      return {
        cluster,
        stores,
        url: `https://${domain}:${ports.https}`,
        ca: cluster.credentials.ca,
        upgrade: async (more, ...flags) => {
          const file = join(cluster.folder, 'more-values.json')
          writeFileSync(file, JSON.stringify(more))
          await cluster.helm('upgrade', ...chart, '-f', file, ...waiting, ...flags)
        },
        stop: async () => {
          await cluster.stop()
          await stores.stop()
        },
      }
    } catch (cause) {
      await stores.stop()
      throw cause
    }
  } catch (cause) {
    await cluster.stop()
    throw cause
  }
}

const tls = [{ secretName: 'fxd-tls', hosts: [domain] }]

const valuesOf = (cluster: KubernetesCluster): object => ({
  stream: { drain: { seconds: 15 } },
  image: { repository: 'fxd', tag: 'test', pullPolicy: 'Never' },
  // Envoy is not a pod.
  trustedProxies: cluster.nodes.map((_, i) => `${cluster.network.bridgeAddress(i + 1)}/32`),
  ingress: {
    enabled: true,
    className: ingressClass,
    controller: 'contour',
    hosts: [domain],
    tls,
  },
  terminals: { enabled: true, feeds: [terminalFeed], host: domain, className: ingressClass, tls },
  httpRoute: { enabled: true, parentRefs: [gateway], hostnames: [`api.${domain}`] },
})
