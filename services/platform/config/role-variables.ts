import type { Config } from './settings.ts'

const process = ['logLevel', 'logFormat', 'opsAddr'] as const
const stores = [
  'store',
  'questdbHttp',
  'questdbPg',
  'questdbUser',
  'questdbPassword',
  'questdbPrefix',
  'redis',
  'redisSentinels',
  'redisMaster',
  'redisSentinelPassword',
  'redisSentinelTls',
  'redisPrefix',
] as const
const tls = ['tlsCert', 'tlsKey', 'tlsCa'] as const
const grpc = ['grpcAddr', ...tls] as const
const terminal = [
  'terminalAddr',
  'terminalTlsCert',
  'terminalTlsKey',
  'terminalTokens',
  'terminalPlain',
  'trustedProxies',
] as const
/** Where no file is named, the token is in the data folder. */
const token = ['tokenFile', 'dataDir'] as const

/** The settings that each role with a separate process reads; it reads no others. */
export const roleVariables = {
  rest: [...process, ...stores, 'limitsPods', 'httpAddr', 'trustedProxies', 'drainSeconds', 'chartKeys'],
  stream: [
    ...process,
    ...stores,
    ...grpc,
    ...token,
    'httpAddr',
    'shardTokenFile',
    'streamConnectionsMax',
    'trustedProxies',
    'drainSeconds',
  ],
  ingest: [...process, ...stores, ...grpc, ...token, 'feeds', 'signingKeys', 'storeIdentityFile'],
  collector: [...process, ...token, ...tls, ...terminal, 'feeds', 'feed', 'ingest', 'spoolMib', 'spoolHours'],
  operator: [
    ...process,
    ...token,
    ...tls,
    'ingest',
    'shardTokenFile',
    'namespace',
    'podName',
    'collectorTemplate',
  ],
  canary: [...process, 'canaryRest', 'canaryStream', 'canaryKeyFile', 'canarySymbols', 'canarySettleSeconds'],
} as const satisfies Readonly<Record<string, readonly (keyof Config)[]>>

export type RoleName = keyof typeof roleVariables
