import { readFileSync } from 'node:fs'
import type { ClientTls } from '../../../services/wire/client.ts'
import type { KubernetesCluster } from '../cluster/cluster.ts'
import { tlsSecret } from '../cluster/ingress.ts'
import { namespace } from './installed.ts'

const secretNames = { ingest: 'ingest-tls', stream: 'stream-tls' }
let issued = 0

/**
 * Makes Secrets with certificates of ingest and shards, by the cluster's authority or another one. Clients inside trust
 * `authorities` (PEM). Returns the values with which the chart uses them.
 */
export async function podTls(
  cluster: KubernetesCluster,
  by = 'kubernetes',
  authorities: Buffer = readFileSync(cluster.credentials.ca),
): Promise<object> {
  issued += 1
  const secrets = Object.entries(secretNames).map(([role, secret]) => {
    const service = `fxd-${role}`
    const names = [service, `${service}.${namespace}`, `${service}.${namespace}.svc`, cluster.network.address]
    const pair = cluster.credentials.forNamesBy(by, `${service}-${issued}`, ...names)
    return tlsSecret(secret, namespace, pair, authorities)
  })
  await cluster.apply(...secrets)
  return { tls: { mode: 'Secret', secretNames } }
}

/** Authorities that an outside collector trusts at first. */
export const trustOf = ({ credentials }: KubernetesCluster): ClientTls => ({
  ca: readFileSync(credentials.ca),
})
