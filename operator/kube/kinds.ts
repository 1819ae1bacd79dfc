// Written by charts/write-kinds.ts from charts/fxd-crds.

export interface ApiKeySpec {
  readonly plan: 'basic' | 'standard' | 'pro' | 'enterprise'
  readonly feeds: readonly string[]
  readonly limits?: {
    /** Requests per minute. */
    readonly rpm?: number
    /** Requests per UTC day. */
    readonly rpd?: number
    readonly wsConnections?: number
    readonly wsSymbols?: number
  }
  /** Addresses and CIDR blocks the key may be used from; empty, all. */
  readonly allowIps?: readonly string[]
  readonly expires?: string
  /** Final. */
  readonly revoked?: boolean
  /** Add one to rotate the secret; 1 when left out. */
  readonly issue?: number
  /** How long the old secret still opens after a rotation; 24h when left out. */
  readonly overlap?: string
  /** Your own secret, fxd_ and 32 hex characters; raise issue when you replace it. */
  readonly keyFrom?: {
    readonly secretKeyRef: {
      readonly name: string
      readonly key: string
    }
  }
  readonly delivery?: {
    /** The Secret that gets the key under "key"; by default the name of the ApiKey. */
    readonly secretName?: string
    readonly deleteAfter?: string
  }
}

export interface ApiKeyStatus {
  readonly observedGeneration?: number
  readonly id?: string
  readonly prefix?: string
  readonly issue?: number
  readonly state?: 'active' | 'expired' | 'inactive'
  readonly secretName?: string
  readonly expiresAt?: string
  readonly oldSecretUntil?: string
  readonly conditions?: readonly {
    readonly type: string
    readonly status: 'True' | 'False' | 'Unknown'
    readonly observedGeneration?: number
    readonly reason: string
    readonly message: string
    readonly lastTransitionTime: string
  }[]
}

export const apikeys = {
  group: 'marketdata.fxd.dev',
  version: 'v1alpha1',
  plural: 'apikeys',
  kind: 'ApiKey',
} as const

export interface FeedSpec {
  /** First part of a compound key, such as BROKERA. */
  readonly broker: string
  /** Second part of a compound key, such as ZERO. */
  readonly account: string
  /** The broker's name in words; by default the broker. */
  readonly brokerName?: string
  readonly description?: string
  /** The clock of the bars. A broker at UTC+3 has offsetSeconds -10800. */
  readonly clock: {
    readonly mode: 'UTC' | 'Fixed' | 'Measured'
    readonly offsetSeconds?: number
  }
  readonly quoteBasis: 'Bid' | 'Mid'
  readonly resolutions: readonly (
    | '1'
    | '5'
    | '10'
    | '15'
    | '30'
    | '60'
    | '120'
    | '240'
    | '1D'
    | '1W'
    | '1M'
  )[]
  readonly delaySeconds?: number
  readonly liveness?: 'heartbeat' | 'candle'
  /** How far back history is read, per resolution. */
  readonly depth?: Readonly<Record<string, string>>
  /** How long bars are kept, per resolution; what is not named is kept for ever. */
  readonly retention?: Readonly<Record<string, string>>
  readonly storage?: {
    /** Tables per resolution; 16 for 1,600 symbols. */
    readonly buckets: 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 | 256
  }
  readonly symbols?: {
    readonly suffixes?: readonly string[]
    readonly list?: readonly {
      /** The terminal's own name. */
      readonly raw: string
      readonly display?: string
      readonly description?: string
      readonly type: 'forex' | 'crypto' | 'index' | 'cfd'
      readonly digits: number
      readonly session?: '24x5' | '24x7'
      readonly delaySeconds?: number
    }[]
  }
  readonly source: {
    readonly type: 'Push' | 'Mt5Csv' | 'Simulator'
    readonly path?: string
    readonly follow?: boolean
    /** PersistentVolumeClaim that holds path; mounted read-only. */
    readonly volumeClaim?: string
    readonly seed?: number
  }
  /** The pods that collect this feed. A Push feed has none. */
  readonly collector?: {
    /** 2 for a standby, which takes over within 15 seconds. */
    readonly replicas?: number
    readonly storage?: {
      /** Of the spool; 1Gi by default. */
      readonly size?: string
      readonly className?: string
    }
  }
}

export interface FeedStatus {
  readonly observedGeneration?: number
  /** BROKER:ACCOUNT */
  readonly key?: string
  readonly state?: 'live' | 'stale' | 'offline'
  readonly symbols?: number
  readonly offsetSeconds?: number
  /** Open time of the newest bar on the feed's clock. */
  readonly newestBar?: string
  readonly tokenExpires?: string
  readonly conditions?: readonly {
    readonly type: string
    readonly status: 'True' | 'False' | 'Unknown'
    readonly observedGeneration?: number
    readonly reason: string
    readonly message: string
    readonly lastTransitionTime: string
  }[]
}

export const feeds = {
  group: 'marketdata.fxd.dev',
  version: 'v1alpha1',
  plural: 'feeds',
  kind: 'Feed',
} as const

export interface StreamPoolSpec {
  /** What kubectl scale, an autoscaler or a person writes. */
  readonly replicas: number
  readonly drain: {
    /** How long a shard takes to close its sockets, never at the minute's edge. */
    readonly seconds: number
    /** Shards that drain at the same time. */
    readonly maxAtOnce: number
  }
  /** Sockets of one shard. */
  readonly connectionsMax: number
  /** Writes spec.replicas by load; left out, nobody does but you. */
  readonly autoscale?: {
    readonly minReplicas: number
    readonly maxReplicas: number
    /** Sockets of one shard. */
    readonly targetConnections: number
    /** Subscriptions of one shard. */
    readonly targetSubscriptions: number
    /** How long fewer shards must suffice. */
    readonly scaleDownAfterSeconds: number
  }
  /** The pods, as in a Deployment. */
  readonly template: Readonly<Record<string, unknown>>
}

export interface StreamPoolStatus {
  readonly observedGeneration?: number
  readonly replicas?: number
  readonly readyReplicas?: number
  readonly drainingReplicas?: number
  readonly connections?: number
  readonly subscriptions?: number
  readonly selector?: string
  readonly conditions?: readonly {
    readonly type: string
    readonly status: 'True' | 'False' | 'Unknown'
    readonly observedGeneration?: number
    readonly reason: string
    readonly message: string
    readonly lastTransitionTime: string
  }[]
}

export const streampools = {
  group: 'marketdata.fxd.dev',
  version: 'v1alpha1',
  plural: 'streampools',
  kind: 'StreamPool',
} as const
