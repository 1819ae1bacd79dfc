import type { CompoundKey } from '../../core/feeds/compound-key.ts'
import type { LogFormat, LogLevel } from '../log/log.ts'
import type { Address, StoreKind, Switch } from './values.ts'

/** Parsed and validated once at the start, then frozen; nothing else reads the environment. */
export interface Config {
  readonly httpAddr: Address
  readonly grpcAddr: Address
  readonly opsAddr: Address
  readonly dataDir: string
  /** Which store keeps bars, windows and the registry. */
  readonly store: StoreKind
  /** Writes and administration. */
  readonly questdbHttp: Address
  /** Reads. */
  readonly questdbPg: Address
  readonly questdbUser: string
  readonly questdbPassword: string
  /** Prefix of every table name, so that several services can share one QuestDB. */
  readonly questdbPrefix: string
  /** URL of the Redis that all pods share; `undefined`: limits, slots and bus are in this process. */
  readonly redis: string | undefined
  /** Sentinels that know the primary; none: `redis` is the primary. */
  readonly redisSentinels: readonly Address[]
  /** The primary's name among the Sentinels. */
  readonly redisMaster: string
  /** Password of the Sentinels themselves; `undefined`: they have none. */
  readonly redisSentinelPassword: string | undefined
  /** Whether the Sentinels have TLS. */
  readonly redisSentinelTls: Switch
  /** Prefix of every key, so that several services can share one Redis. */
  readonly redisPrefix: string
  /** The number of pods that admit requests, for a pod that has not met the others in Redis yet. */
  readonly limitsPods: number
  /** File or folder of Feed manifests; `undefined`: the demo feeds. */
  readonly feeds: string | undefined
  /** The feed of `fxd collector`; `undefined`: the only one of the manifests. */
  readonly feed: string | undefined
  /**
   * Ingests to which `fxd collector` sends bars and which `fxd operator` administers, tried one after another.
   * Commands use the first.
   */
  readonly ingest: readonly Address[]
  /**
   * File with the administration token, for `fxd collector` the token of its feed; `undefined`: the file in the
   * data folder.
   */
  readonly tokenFile: string | undefined
  /** File with the token of `fxd.v1.Shard`; `undefined`: the administration token. */
  readonly shardTokenFile: string | undefined
  /** File with the identity of the store, as it is known outside of it; `undefined`: Redis alone knows it. */
  readonly storeIdentityFile: string | undefined
  /** File with the keys that sign tokens of feeds; `undefined`: the administration token signs. */
  readonly signingKeys: string | undefined
  /** PEM files of this process's certificate and key; unless both are set, gRPC is not encrypted. */
  readonly tlsCert: string | undefined
  readonly tlsKey: string | undefined
  /** PEM file of trusted authorities: for the certificate of the peer, and on ingest of clients. */
  readonly tlsCa: string | undefined
  /** Maximum sockets of one shard; at the limit it is not ready and rejects new sockets. */
  readonly streamConnectionsMax: number
  /** How long a shard takes to close its sockets after SIGTERM; `fxd rest` continues to answer for up to 5 s of it. */
  readonly drainSeconds: number
  /** Limits of a collector's spool: at either one its oldest batches are dropped, and a gap names them. */
  readonly spoolMib: number
  readonly spoolHours: number
  /** Namespace of the objects of `fxd operator`; `undefined`: the namespace of its pod, or of the kubeconfig. */
  readonly namespace: string | undefined
  /** Name of this replica of `fxd operator`; `undefined`: the host name, which in a pod is the name of the pod. */
  readonly podName: string | undefined
  /** JSON file with the pod template of collectors. */
  readonly collectorTemplate: string | undefined
  /** Base URLs of REST and of the stream, as clients reach them; for `fxd canary`. */
  readonly canaryRest: string | undefined
  readonly canaryStream: string | undefined
  /** File with the API key of `fxd canary`. */
  readonly canaryKeyFile: string | undefined
  /** Compound keys that `fxd canary` subscribes. */
  readonly canarySymbols: readonly CompoundKey[]
  /**
   * Interval of comparisons with history. A bar counts as missed when history had it for this long and it was
   * not pushed.
   */
  readonly canarySettleSeconds: number
  /** CIDR blocks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
  /** Lowest level that is logged; `undefined`: `info`, or `warn` for text on a terminal. */
  readonly logLevel: LogLevel | undefined
  readonly logFormat: LogFormat
}
