import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Pair } from '../../support/fixtures/certificate-fixture.ts'
import type { KubernetesCluster } from '../cluster/cluster.ts'
import { tlsSecret } from '../cluster/ingress.ts'
import { namespace } from './installed.ts'

const waitSeconds = 300
const names = ['fxd-ingest', 'fxd-stream']
let issued = 0

interface Certificate {
  readonly spec: { readonly secretName: string; readonly dnsNames: readonly string[] }
}

/**
 * Does what cert-manager does for the chart's Certificates: once they exist, makes their Secrets with new certificates
 * for the names that they want, and the certificate of the authority. Resolves with that of ingest.
 */
export async function issueCertificates({
  apply,
  credentials,
  kubectl,
}: KubernetesCluster): Promise<X509Certificate> {
  issued += 1
  const pairs: Pair[] = []
  for (const name of names) {
    const wanted = [`certificate/${name}`, '-n', namespace]
    await kubectl('wait', '--for=create', ...wanted, `--timeout=${waitSeconds}s`)
    const { spec } = JSON.parse(await kubectl('get', ...wanted, '-o=json')) as Certificate
    const pair = credentials.forNames(`${name}-${issued}`, ...spec.dnsNames)
    await apply(tlsSecret(spec.secretName, namespace, pair, readFileSync(credentials.ca)))
    pairs.push(pair)
  }
  return new X509Certificate(readFileSync(pairs[0]?.cert ?? ''))
}
