import type { KubeObject } from './object.ts'
import { Reflector, type ReflectorDeps } from './reflector.ts'
import {
  type ApiKeyObject,
  type FeedObject,
  type Pod,
  type PoolObject,
  resources,
  type Secret,
  type Workload,
} from './resources.ts'

export interface Caches {
  readonly feeds: Reflector<FeedObject>
  readonly apikeys: Reflector<ApiKeyObject>
  readonly streampools: Reflector<PoolObject>
  readonly secrets: Reflector<Secret>
  readonly configmaps: Reflector<KubeObject>
  readonly services: Reflector<KubeObject>
  readonly pods: Reflector<Pod>
  readonly statefulsets: Reflector<Workload>
  readonly deployments: Reflector<Workload>
  readonly poddisruptionbudgets: Reflector<KubeObject>
}

interface CachesDeps extends Omit<ReflectorDeps<KubeObject>, 'changed' | 'failed'> {
  readonly changed: (kind: keyof Caches, object: KubeObject | undefined) => void
  readonly failed: (kind: keyof Caches) => void
}

export function openCaches(deps: CachesDeps): Caches {
  const open = <T extends KubeObject>(kind: keyof Caches): Reflector<T> =>
    new Reflector<T>(resources[kind], {
      ...deps,
      changed: (object) => deps.changed(kind, object),
      failed: () => deps.failed(kind),
    })
  return {
    feeds: open('feeds'),
    apikeys: open('apikeys'),
    streampools: open('streampools'),
    secrets: open('secrets'),
    configmaps: open('configmaps'),
    services: open('services'),
    pods: open('pods'),
    statefulsets: open('statefulsets'),
    deployments: open('deployments'),
    poddisruptionbudgets: open('poddisruptionbudgets'),
  }
}

export const entriesOf = (caches: Caches): readonly [keyof Caches, Reflector<KubeObject>][] =>
  Object.entries(caches) as [keyof Caches, Reflector<KubeObject>][]
