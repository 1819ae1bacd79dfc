import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Credentials } from './credentials.ts'
import { Daemon } from './daemon.ts'
import type { ClusterNetwork } from './network.ts'
import { kubernetesPrograms } from './programs.ts'
import { serviceOf } from './service-of.ts'

export const dnsAddress = '10.96.0.10'

export interface DnsDeps {
  readonly network: ClusterNetwork
  readonly credentials: Credentials
  readonly folder: string
  readonly apply: (...objects: readonly object[]) => Promise<void>
}

/** Starts CoreDNS as a process in the cluster's network, behind the Service that pods query. */
export async function startDns({ network, credentials, folder, apply }: DnsDeps): Promise<Daemon> {
  const config = join(folder, 'Corefile')
  const lines = [
    '.:53 {',
    `  bind ${network.address}`,
    '  errors',
    '  kubernetes cluster.local in-addr.arpa {',
    `    kubeconfig ${credentials.kubeconfig('coredns', 'system:masters')}`,
    '    ttl 2',
    '  }',
    '}',
  ]
  writeFileSync(config, `${lines.join('\n')}\n`)
  const { coredns } = kubernetesPrograms()
  const daemon = new Daemon('coredns', network.enter(coredns, '-conf', config), join(folder, 'coredns.log'))
  daemon.start()
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  ]
  const name = { name: 'kube-dns', namespace: 'kube-system' }
  try {
    await apply(...serviceOf(name, network.address, ports, dnsAddress))
  } catch (cause) {
    await daemon.kill()
    throw cause
  }
  return daemon
}
