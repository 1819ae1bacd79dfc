import { logFormats, logLevels } from '../log/log.ts'
import {
  anyText,
  oneOf,
  optional,
  type Parser,
  parseAddress,
  parseCidrs,
  parseIngests,
  parseName,
  parsePath,
  parsePrefix,
  parseRedis,
  parseRedisPrefix,
  parseServer,
  parseServers,
  parseSymbols,
  parseUrl,
  parseUser,
  storeKinds,
  switches,
  wholeNumber,
} from './values.ts'

interface Variable<T> {
  readonly name: string
  readonly fallback: string
  readonly meaning: string
  readonly parse: Parser<T>
  /** A secret: its value is never printed. */
  readonly isSecret: boolean
}

const variable = <T>(name: string, fallback: string, meaning: string, parse: Parser<T>): Variable<T> => ({
  name,
  fallback,
  meaning,
  parse,
  isSecret: false,
})

const secret: typeof variable = (...given) => ({ ...variable(...given), isSecret: true })

export const variables = {
  httpAddr: variable('FXD_HTTP_ADDR', '127.0.0.1:8080', 'where REST and /v1/stream listen', parseAddress),
  grpcAddr: variable(
    'FXD_GRPC_ADDR',
    '127.0.0.1:8090',
    'where collectors and the command line connect (gRPC); of fxd stream, where fxd.v1.Shard answers',
    parseAddress,
  ),
  opsAddr: variable(
    'FXD_OPS_ADDR',
    '127.0.0.1:9464',
    'where /livez, /readyz and /metrics listen',
    parseAddress,
  ),
  dataDir: variable(
    'FXD_DATA_DIR',
    './data',
    'folder that keeps bars, registry, usage and the administration token; of fxd collector, the spool',
    parsePath,
  ),
  store: variable(
    'FXD_STORE',
    'embedded',
    'where bars, coverage and the registry are kept: embedded (in FXD_DATA_DIR) or questdb',
    oneOf(storeKinds),
  ),
  questdbHttp: variable(
    'FXD_QUESTDB_HTTP',
    '127.0.0.1:9000',
    'host:port of QuestDB for HTTP: writes and administration',
    parseServer,
  ),
  questdbPg: variable(
    'FXD_QUESTDB_PG',
    '127.0.0.1:8812',
    "host:port of QuestDB for PostgreSQL's protocol: reads",
    parseServer,
  ),
  questdbUser: variable('FXD_QUESTDB_USER', 'admin', 'user of QuestDB', parseUser),
  questdbPassword: secret(
    'FXD_QUESTDB_PASSWORD',
    'quest',
    'password of that user; never printed',
    anyText('a password'),
  ),
  questdbPrefix: variable(
    'FXD_QUESTDB_PREFIX',
    'fxd_',
    'begins the name of every table, so that several services can share one QuestDB',
    parsePrefix,
  ),
  redis: secret(
    'FXD_REDIS',
    '',
    'redis:// or rediss:// URL of the Redis that all processes share; empty: limits, slots and bus are kept in this process',
    optional(parseRedis),
  ),
  redisSentinels: variable(
    'FXD_REDIS_SENTINELS',
    '',
    'comma-separated host:port of Sentinels; FXD_REDIS then gives user, password and database only',
    parseServers,
  ),
  redisMaster: variable('FXD_REDIS_MASTER', 'fxd', 'name of the primary among the Sentinels', parseName),
  redisSentinelPassword: secret(
    'FXD_REDIS_SENTINEL_PASSWORD',
    '',
    'password of the Sentinels themselves; never printed',
    optional(anyText('a password')),
  ),
  redisSentinelTls: variable(
    'FXD_REDIS_SENTINEL_TLS',
    'disabled',
    'whether the Sentinels have TLS; the servers have it where FXD_REDIS begins with rediss://',
    oneOf(switches),
  ),
  redisPrefix: variable(
    'FXD_REDIS_PREFIX',
    'fxd:',
    'begins every key, so that several services can share one Redis',
    parseRedisPrefix,
  ),
  limitsPods: variable(
    'FXD_LIMITS_PODS',
    '1',
    'how many processes with REST share the limits of a key; used from a start without Redis until Redis answers',
    wholeNumber('processes', 1, 1_000),
  ),
  feeds: variable(
    'FXD_FEEDS',
    '',
    'file or folder of Feed manifests; empty: fxd all uses the demo feeds, fxd ingest keeps the registry as it is, fxd collector does not start',
    optional(parsePath),
  ),
  feed: variable(
    'FXD_FEED',
    '',
    'BROKER:ACCOUNT of the feed that fxd collector collects; needed when FXD_FEEDS holds several',
    optional(anyText('BROKER:ACCOUNT')),
  ),
  ingest: variable(
    'FXD_INGEST',
    '127.0.0.1:8090',
    'comma-separated host:port of the ingests that fxd collector and fxd operator try in turn; where it is set, fxd keys, feeds, symbols, store and import ask the first',
    parseIngests,
  ),
  tokenFile: variable(
    'FXD_TOKEN_FILE',
    '',
    'file with the token: the administration token, for fxd collector the one of its feed; the first line is used, on ingest all are accepted; empty: the file "token" in FXD_DATA_DIR',
    optional(parsePath),
  ),
  shardTokenFile: variable(
    'FXD_SHARD_TOKEN_FILE',
    '',
    'file with the token with which fxd operator asks fxd stream for its load and drains it; empty: the administration token is used',
    optional(parsePath),
  ),
  storeIdentityFile: variable(
    'FXD_STORE_IDENTITY_FILE',
    '',
    'file with the identity of the store, for an ingest whose Redis lost it; need not exist; in the chart a ConfigMap that the operator keeps',
    optional(parsePath),
  ),
  signingKeys: variable(
    'FXD_SIGNING_KEYS',
    '',
    'file with the keys of ingest that sign the tokens of feeds, one per line, 32 characters or more; the first signs, all are accepted; empty: the administration token signs',
    optional(parsePath),
  ),
  chartKeys: variable(
    'FXD_CHART_KEYS',
    '',
    'file with the keys of REST that sign the tokens of charts, one per line, 32 characters or more; the first signs, all are accepted; empty: fxd rest serves no charts, fxd all uses the file "chart-keys" in FXD_DATA_DIR, which it makes',
    optional(parsePath),
  ),
  tlsCert: variable(
    'FXD_TLS_CERT',
    '',
    'PEM file of the certificate of this process for gRPC, as server and as client; reloaded when it changes',
    optional(parsePath),
  ),
  tlsKey: variable('FXD_TLS_KEY', '', 'PEM file of the key to that certificate', optional(parsePath)),
  tlsCa: variable(
    'FXD_TLS_CA',
    '',
    'PEM file of CA certificates: both sides trust certificates that these CAs signed',
    optional(parsePath),
  ),
  streamConnectionsMax: variable(
    'FXD_STREAM_CONNECTIONS_MAX',
    '10000',
    'maximum sockets of one process; at this limit it is not ready and rejects new sockets',
    wholeNumber('sockets', 1, 1_000_000),
  ),
  drainSeconds: variable(
    'FXD_DRAIN_SECONDS',
    '30',
    'how long fxd stream takes after SIGTERM to close its sockets, a few at a time; fxd rest continues to answer for up to 5 s of this time',
    wholeNumber('seconds', 0, 3_600),
  ),
  terminalAddr: variable(
    'FXD_TERMINAL_ADDR',
    '127.0.0.1:8091',
    'where programs in terminals connect (HTTP), for feeds with source Terminal',
    parseAddress,
  ),
  terminalTlsCert: variable(
    'FXD_TERMINAL_TLS_CERT',
    '',
    'PEM file of the certificate for FXD_TERMINAL_ADDR; reloaded when it changes',
    optional(parsePath),
  ),
  terminalTlsKey: variable(
    'FXD_TERMINAL_TLS_KEY',
    '',
    'PEM file of the key to that certificate',
    optional(parsePath),
  ),
  terminalTokens: variable(
    'FXD_TERMINAL_TOKENS',
    '',
    'file with the digests of terminal tokens, as fxd terminal token writes them; read again when it changes; empty: the file "terminal-tokens" in FXD_DATA_DIR',
    optional(parsePath),
  ),
  terminalPlain: variable(
    'FXD_TERMINAL_PLAIN',
    'false',
    'true: terminals may connect without TLS on an address that is not loopback',
    oneOf(['false', 'true']),
  ),
  spoolMib: variable(
    'FXD_SPOOL_MIB',
    '256',
    'maximum disk space of the spool of fxd collector; above it the oldest batches are dropped',
    wholeNumber('MiB', 1, 1_000_000),
  ),
  spoolHours: variable(
    'FXD_SPOOL_HOURS',
    '24',
    'how long fxd collector keeps bars that ingest has not acknowledged',
    wholeNumber('hours', 1, 8_760),
  ),
  namespace: variable(
    'FXD_NAMESPACE',
    '',
    'namespace of the Kubernetes objects of fxd operator; empty: that of its pod, or of the kubeconfig',
    optional(anyText('a namespace')),
  ),
  podName: variable(
    'FXD_POD_NAME',
    '',
    'name of the pod of fxd operator, unique among its replicas; empty: the host name',
    optional(anyText('a name')),
  ),
  collectorTemplate: variable(
    'FXD_COLLECTOR_TEMPLATE',
    '',
    'JSON file with the pod template of the collectors that fxd operator makes, and with labels and annotations of their StatefulSets; without it Feeds with a source other than Push are not ready',
    optional(parsePath),
  ),
  canaryRest: secret(
    'FXD_CANARY_REST',
    '',
    'URL at which fxd canary reaches REST as a client does, such as https://bars.example.org',
    optional(parseUrl('http:', 'https:')),
  ),
  canaryStream: secret(
    'FXD_CANARY_STREAM',
    '',
    'URL at which fxd canary reaches the WebSocket, such as wss://bars.example.org',
    optional(parseUrl('ws:', 'wss:')),
  ),
  canaryKeyFile: variable(
    'FXD_CANARY_KEY_FILE',
    '',
    'file with the API key of fxd canary; read again at each use',
    optional(parsePath),
  ),
  canarySymbols: variable(
    'FXD_CANARY_SYMBOLS',
    '',
    'comma-separated compound keys of at most 20 symbols that fxd canary watches; their feeds should trade all week',
    parseSymbols,
  ),
  canarySettleSeconds: variable(
    'FXD_CANARY_SETTLE_SECONDS',
    '60',
    'interval of the comparison with history by fxd canary; a bar is missed if history has had it for that long and it was not pushed',
    wholeNumber('seconds', 1, 600),
  ),
  apiKey: secret(
    'FXD_API_KEY',
    '',
    'API key of fxd watch, and of programs with a client; no role reads it',
    anyText('an API key'),
  ),
  trustedProxies: variable(
    'FXD_TRUSTED_PROXIES',
    '',
    'CIDR blocks of proxies whose X-Forwarded-For is trusted',
    parseCidrs,
  ),
  logLevel: variable(
    'FXD_LOG_LEVEL',
    '',
    `lowest level that is logged: ${logLevels.join(', ')}; empty: info, or warn for text on a terminal`,
    optional(oneOf(logLevels)),
  ),
  logFormat: variable(
    'FXD_LOG_FORMAT',
    'auto',
    'how the log is written to standard error: json (a line per event), text (for a person), or auto (text on a terminal, else json)',
    oneOf(logFormats),
  ),
}
