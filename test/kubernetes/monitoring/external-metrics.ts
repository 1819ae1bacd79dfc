import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { KubernetesCluster } from '../cluster/cluster.ts'
import { serviceOf } from '../cluster/service-of.ts'

const group = 'external.metrics.k8s.io'
const version = `${group}/v1beta1`
const place = { name: 'external-metrics', namespace: 'kube-system' }

export interface ExternalMetrics {
  /** Value of every metric from now on. */
  value: number
  close(): Promise<void>
}

/** Serves the API of external metrics to the cluster, as an adapter of a monitoring system does. */
export async function serveExternalMetrics({
  network,
  credentials,
  apply,
}: KubernetesCluster): Promise<ExternalMetrics> {
  const { cert, key } = credentials.forNames('external-metrics', `${place.name}.${place.namespace}.svc`)
  const metrics = { value: 0 }
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer(request.url ?? '', metrics.value)))
  }).listen(0, network.machineAddress)
  await once(server, 'listening')
  const processPort = (server.address() as AddressInfo).port
  await apply(...serviceOf(place, network.machineAddress, [{ name: 'https', port: 443, processPort }]), {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `v1beta1.${group}` },
    spec: {
      group,
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      caBundle: readFileSync(credentials.ca).toString('base64'),
      service: place,
    },
  })
  return Object.assign(metrics, {
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

function answer(url: string, value: number): object {
  const [path = ''] = url.split('?')
  const metricName = new RegExp(`^/apis/${version}/namespaces/[^/]+/([^/]+)$`).exec(path)?.[1]
  if (metricName === undefined)
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: version, resources: [] }
  const item = { metricName, metricLabels: {}, timestamp: new Date().toISOString(), value: String(value) }
  return { kind: 'ExternalMetricValueList', apiVersion: version, metadata: {}, items: [item] }
}
