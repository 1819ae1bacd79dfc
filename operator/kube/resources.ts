import {
  type ApiKeySpec,
  type ApiKeyStatus,
  apikeys as apikeyKind,
  type FeedSpec,
  type FeedStatus,
  feeds as feedKind,
  streampools as poolKind,
  type StreamPoolSpec,
  type StreamPoolStatus,
} from './kinds.ts'
import type { KubeObject, Resource } from './object.ts'

export const group = 'marketdata.fxd.dev'
/** Label of every object that the operator makes. */
export const managedByOperator = { 'app.kubernetes.io/managed-by': 'fxd-operator' } as const
/** Labels with the object's name on pods of a StreamPool and of a Feed's collector. */
export const poolLabel = `${group}/streampool`
export const feedLabel = `${group}/feed`
/** Label with the name of the ApiKey on its Secrets. They outlive it for a while, so they have no owner. */
export const keyLabel = `${group}/apikey`

const managedLabel = 'app.kubernetes.io/managed-by=fxd-operator'

export interface FeedObject extends KubeObject {
  readonly spec: FeedSpec
  readonly status?: FeedStatus
}

export interface ApiKeyObject extends KubeObject {
  readonly spec: ApiKeySpec
  readonly status?: ApiKeyStatus
}

export interface PoolObject extends KubeObject {
  readonly spec: StreamPoolSpec
  readonly status?: StreamPoolStatus
}

export interface Secret extends KubeObject {
  readonly type?: string
  /** Values in Base64. */
  readonly data?: Readonly<Record<string, string>>
}

/** A Deployment or StatefulSet. */
export interface Workload extends KubeObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason?: string
      readonly message?: string
    }[]
  }
}

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly containers?: readonly {
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[]
    }[]
  }
  readonly status?: {
    readonly phase?: string
    readonly podIP?: string
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly lastTransitionTime?: string
    }[]
  }
}

export const resources = {
  feeds: feedKind,
  apikeys: apikeyKind,
  streampools: poolKind,
  secrets: { group: '', version: 'v1', plural: 'secrets', label: managedLabel },
  configmaps: { group: '', version: 'v1', plural: 'configmaps', label: managedLabel },
  services: { group: '', version: 'v1', plural: 'services', label: managedLabel },
  persistentvolumeclaims: { group: '', version: 'v1', plural: 'persistentvolumeclaims' },
  pods: { group: '', version: 'v1', plural: 'pods', label: poolLabel },
  statefulsets: { group: 'apps', version: 'v1', plural: 'statefulsets', label: managedLabel },
  deployments: { group: 'apps', version: 'v1', plural: 'deployments', label: managedLabel },
  poddisruptionbudgets: {
    group: 'policy',
    version: 'v1',
    plural: 'poddisruptionbudgets',
    label: managedLabel,
  },
  leases: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' },
  events: { group: 'events.k8s.io', version: 'v1', plural: 'events' },
} as const satisfies Readonly<Record<string, Resource>>

export const apiVersionOf = ({ group: of, version }: Resource): string =>
  of === '' ? version : `${of}/${version}`
