import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { statusOf } from '../support/cluster/answers.ts'
import { globalSection, haproxy } from '../support/cluster/load-balancer.ts'
import { Program } from '../support/cluster/program.ts'

export interface TunnelOptions {
  readonly home: string
  readonly port: number
  /** host:port of the ingress. */
  readonly ingress: string
  /** DNS name in its certificate and its rules. */
  readonly domain: string
  /** PEM file of the authority that must have signed its certificate. */
  readonly authority: string
}

/**
 * Starts a real HAProxy on loopback for clients without TLS. It forwards each request to the ingress over TLS, with the
 * client's address in X-Forwarded-For.
 */
export function tlsTunnel(options: TunnelOptions): Program {
  const { command, env } = haproxy()
  const file = join(options.home, 'tunnel.cfg')
  writeFileSync(file, configuration(options))
  return new Program({
    name: 'tls-tunnel',
    command,
    args: ['-db', '-f', file],
    env: { ...process.env, ...env },
    log: join(options.home, 'tunnel.log'),
    isReady: async () => (await statusOf(options.port, '/v1/config')) === 200,
  })
}

const configuration = ({ port, ingress, domain, authority }: TunnelOptions): string => `
${globalSection}
defaults
  mode http
  log global
  option forwardfor
  timeout connect 5s
  timeout http-request 10s
  timeout client 75s
  timeout server 75s
  timeout tunnel 1h

frontend clients
  bind 127.0.0.1:${port}
  option h1-case-adjust-bogus-client
  http-request set-header Host ${domain}
  http-request set-var(txn.wants_socket) bool(true) if { hdr(Upgrade) -i websocket }
  default_backend ingress

backend ingress
  # A refused upgrade ends its connection.
  http-response set-header Connection close if { var(txn.wants_socket) -m bool } !{ status 101 }
  server envoy ${ingress} ssl verify required ca-file ${authority} sni str(${domain}) alpn http/1.1
`
