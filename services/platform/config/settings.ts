import type { CompoundKey } from '../../core/feeds/compound-key.ts'
import type { LogFormat, LogLevel } from '../log/log.ts'
import type { Address, StoreKind } from './values.ts'

/** Parsed once at start, validated, frozen and handed down; nothing else reads the environment. */
export interface Config {
  readonly httpAddr: Address
  readonly grpcAddr: Address
  readonly opsAddr: Address
  readonly dataDir: string
  /** Where bars, windows and the registry are kept. */
  readonly store: StoreKind
  /** Writes and administration. */
  readonly questdbHttp: Address
  /** Reads. */
  readonly questdbPg: Address
  readonly questdbUser: string
  readonly questdbPassword: string
  /** Begins the name of every table, so that several services can share one QuestDB. */
  readonly questdbPrefix: string
  /** What all pods share; `undefined`: kept in this process. */
  readonly redis: string | undefined
  /** Asked for the primary; none: `redis` is the primary. */
  readonly redisSentinels: readonly Address[]
  /** The primary's name among the Sentinels. */
  readonly redisMaster: string
  /** What the Sentinels themselves ask for; `undefined`: nothing. */
  readonly redisSentinelPassword: string | undefined
  /** Begins every key, so that several services can share one Redis. */
  readonly redisPrefix: string
  /** File or folder of Feed manifests; `undefined`: the demo feeds. */
  readonly feeds: string | undefined
  /** The feed of `fxd collector`; `undefined`: the only one of the manifests. */
  readonly feed: string | undefined
  /** Where `fxd collector` brings its bars and `fxd operator` administers, tried in turn; commands ask the first. */
  readonly ingest: readonly Address[]
  /** File with the token: administration's, of `fxd collector` its feed's; `undefined`: the one in the data folder. */
  readonly tokenFile: string | undefined
  /** File with the token of `fxd.v1.Shard`; `undefined`: the administration token is theirs, too. */
  readonly shardTokenFile: string | undefined
  /** File with the keys that sign tokens of feeds; `undefined`: the administration token signs. */
  readonly signingKeys: string | undefined
  /** PEM files of this process's certificate and key; without both, gRPC is not encrypted. */
  readonly tlsCert: string | undefined
  readonly tlsKey: string | undefined
  /** PEM file of the authorities whose certificates are believed, the peer's and on ingest the clients'. */
  readonly tlsCa: string | undefined
  /** Sockets that one shard holds; at the bound it is not ready and refuses newcomers. */
  readonly streamConnectionsMax: number
  /** How long a shard takes to close its sockets after SIGTERM; `fxd rest` goes on answering for 5 of them. */
  readonly drainSeconds: number
  /** At the bounds of its spool a collector's oldest batches leave it, and a gap names them. */
  readonly spoolMib: number
  readonly spoolHours: number
  /** Where the objects of `fxd operator` are; `undefined`: the namespace of its pod, or of the kubeconfig. */
  readonly namespace: string | undefined
  /** Who this replica of `fxd operator` is; `undefined`: the host's name, which in a pod is the pod's. */
  readonly podName: string | undefined
  /** JSON file with the pod template of collectors. */
  readonly collectorTemplate: string | undefined
  /** Base URLs of REST and of the stream as clients of `fxd canary` reach them. */
  readonly canaryRest: string | undefined
  readonly canaryStream: string | undefined
  /** File with the API key of `fxd canary`. */
  readonly canaryKeyFile: string | undefined
  /** Compound keys that `fxd canary` subscribes. */
  readonly canarySymbols: readonly CompoundKey[]
  /** A bar that history has for so long and that was not pushed is missed; so long lies between two comparisons. */
  readonly canarySettleSeconds: number
  /** CIDR blocks whose forwarded chain is believed. */
  readonly trustedProxies: readonly string[]
  /** `undefined`: `info`, for text on a terminal `warn`. */
  readonly logLevel: LogLevel | undefined
  readonly logFormat: LogFormat
}
