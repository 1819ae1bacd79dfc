import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FromPackages, programOf } from '../debian-packages.ts'
import { statusOf } from './answers.ts'
import { Program } from './program.ts'

/** From where the load balancer reaches the pods: they believe its forwarded chain. */
export const loadBalancerSource = '127.0.0.3'

export interface Backend {
  readonly name: string
  readonly port: number
  readonly opsPort: number
}

export interface LoadBalancerOptions {
  readonly home: string
  readonly httpPort: number
  /** Where commands and collectors of others reach any ingest. */
  readonly grpcPort: number
  readonly rest: readonly Backend[]
  readonly stream: readonly Backend[]
  readonly ingest: readonly Backend[]
}

const haproxy = (): FromPackages =>
  programOf(
    ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
    'usr/sbin/haproxy',
    ['-v'],
    'install HAProxy (Debian: "apt-get install haproxy", macOS: "brew install haproxy")',
  )

/** A real HAProxy: requests in turn, sockets to the shard that has the fewest, only where `/readyz` says yes. */
export function loadBalancer(options: LoadBalancerOptions): Program {
  const { command, env } = haproxy()
  const file = join(options.home, 'haproxy.cfg')
  writeFileSync(file, configuration(options))
  return new Program({
    name: 'load-balancer',
    command,
    args: ['-db', '-f', file],
    env: { ...process.env, ...env },
    log: join(options.home, 'load-balancer.log'),
    isReady: async () => (await statusOf(options.httpPort, '/v1/config')) === 200,
  })
}

const servers = (backends: readonly Backend[]): string =>
  backends
    .map(({ name, port, opsPort }) => `  server ${name} 127.0.0.1:${port} check port ${opsPort}\n`)
    .join('')

const configuration = ({ httpPort, grpcPort, rest, stream, ingest }: LoadBalancerOptions): string => `
global
  maxconn 8000
  log stderr format raw daemon notice

defaults
  mode http
  log global
  timeout connect 2s
  timeout client 75s
  timeout server 75s
  timeout check 2s
  timeout tunnel 1h
  # A request that no pod has seen may be given to another one.
  option redispatch
  retries 3
  retry-on conn-failure empty-response
  default-server inter 500ms fall 1 rise 1 source ${loadBalancerSource}

frontend world
  bind 127.0.0.1:${httpPort}
  option forwardfor
  http-request disable-l7-retry unless METH_GET
  acl wants_socket hdr(Upgrade) -i websocket
  use_backend stream if wants_socket { path /v1/stream }
  default_backend rest

backend rest
  balance roundrobin
  option httpchk GET /readyz
${servers(rest)}
backend stream
  balance leastconn
  option httpchk GET /readyz
${servers(stream)}
listen ingest
  mode tcp
  bind 127.0.0.1:${grpcPort}
  timeout client 1h
  timeout server 1h
  balance roundrobin
  # Whoever listens will do: a busy ingest is better than none.
${ingest.map(({ name, port }) => `  server ${name} 127.0.0.1:${port} check\n`).join('')}`
