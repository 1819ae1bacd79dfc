import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FromPackages, programOf } from '../processes/debian-packages.ts'
import { statusOf } from './answers.ts'
import { Program } from './program.ts'

/** Source address of requests that the load balancer reads; pods trust its X-Forwarded-For. */
export const loadBalancerSource = '127.0.0.4'
/** Source address of connections that it passes on unread; pods do not trust their X-Forwarded-For. */
const unreadSource = '127.0.0.5'

export interface Backend {
  readonly name: string
  readonly port: number
  readonly opsPort: number
}

export interface LoadBalancerOptions {
  readonly home: string
  readonly httpPort: number
  /** Port for commands and collectors, which reach any ingest. */
  readonly grpcPort: number
  readonly rest: readonly Backend[]
  readonly stream: readonly Backend[]
  readonly ingest: readonly Backend[]
}

export const haproxy = (): FromPackages =>
  programOf({
    packages: ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
    path: 'usr/sbin/haproxy',
    versionArgs: ['-v'],
    advice: 'install HAProxy (Debian: "apt-get install haproxy", macOS: "brew install haproxy")',
  })

/** HAProxy: requests to rest pods in turn, sockets to the shard with the fewest, only to pods whose `/readyz` is 200. */
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

const checked = (backends: readonly Backend[], more = ''): string =>
  backends
    .map(({ name, port, opsPort }) => `  server ${name} 127.0.0.1:${port} check port ${opsPort}${more}\n`)
    .join('')
const anyOf = (backends: readonly Backend[]): string =>
  backends.map(({ name, port }) => `  server ${name} 127.0.0.1:${port}\n`).join('')

/** HAProxy sends header names in lower case; these are sent as the specification spells them. */
const spelled = [
  'X-RateLimit-Limit-Minute',
  'X-RateLimit-Remaining-Minute',
  'X-RateLimit-Reset-Minute',
  'X-RateLimit-Limit-Day',
  'X-RateLimit-Remaining-Day',
  'X-RateLimit-Exceeded',
  'Retry-After',
  'X-Ws-Connections-Limit',
  'X-Ws-Connections-In-Use',
]

/** The section `global` of every HAProxy of the tests. */
export const globalSection = `global
  maxconn 8000
  # Small buffers, so that pods notice a client that does not read.
  tune.sndbuf.client 65536
  tune.rcvbuf.server 65536
  log stderr format raw daemon notice
${spelled.map((name) => `  h1-case-adjust ${name.toLowerCase()} ${name}\n`).join('')}
`

const configuration = ({
  httpPort,
  grpcPort,
  rest,
  stream,
  ingest,
}: LoadBalancerOptions): string => String.raw`
${globalSection}
defaults
  mode http
  log global
  option forwardfor
  timeout connect 2s
  timeout http-request 10s
  timeout client 75s
  timeout server 75s
  timeout check 2s
  timeout tunnel 1h
  # A request that reached no pod may be sent to another one.
  option redispatch
  retries 3
  retry-on conn-failure empty-response
  default-server inter 500ms fall 2 rise 1 source ${loadBalancerSource}

frontend world
  # HAProxy refuses a handshake without Sec-WebSocket-Key, but fxd answers it as a plain request. Such a connection
  # is passed on unread; every other connection is read as HTTP.
  mode tcp
  bind 127.0.0.1:${httpPort}
  option h1-case-adjust-bogus-client
  tcp-request inspect-delay 10s
  tcp-request content set-var(txn.head) req.payload(0,0) if { req.payload(0,0) -m reg '\r\n\r\n' }
  acl is_handshake var(txn.head) -m reg -i '\r\nupgrade: *websocket'
  acl has_key var(txn.head) -m reg -i '\r\nsec-websocket-key:'
  tcp-request content set-var(txn.is_half) bool(true) if is_handshake !has_key
  tcp-request content unset-var(txn.head)
  acl is_half var(txn.is_half) -m bool
  tcp-request content switch-mode http if !is_half
  use_backend rest_unread if is_half
  acl wants_socket hdr(Upgrade) -i websocket
  acl stream_path path /v1/stream
  # If no pod is ready on a busy machine: a late answer is better than none.
  use_backend any_stream if wants_socket stream_path { nbsrv(stream) lt 1 }
  use_backend stream if wants_socket stream_path
  use_backend any_rest if { nbsrv(rest) lt 1 }
  default_backend rest

backend rest
  balance roundrobin
  http-request disable-l7-retry unless METH_GET
  option httpchk GET /readyz
${checked(rest)}
backend rest_unread
  mode tcp
  balance roundrobin
  option httpchk GET /readyz
${checked(rest, ` source ${unreadSource}`)}
backend any_rest
  balance roundrobin
  # A frozen pod accepts a request and never answers it. Another pod may be only slow to become ready.
  timeout server 3s
  option redispatch 1
  retry-on conn-failure empty-response response-timeout
  http-request disable-l7-retry unless METH_GET
${anyOf(rest)}
backend stream
  # A refused upgrade closes its connection.
  http-response set-header Connection close if !{ status 101 }
  balance leastconn
  option httpchk GET /readyz
${checked(stream)}
backend any_stream
  http-response set-header Connection close if !{ status 101 }
  balance leastconn
${anyOf(stream)}
listen ingest
  mode tcp
  bind 127.0.0.1:${grpcPort}
  timeout client 1h
  timeout server 1h
  balance roundrobin
  # Any ingest that listens: a busy one is better than none.
${anyOf(ingest).replaceAll('\n', ' check\n')}`
