import { ownerName } from './kube/apply-owned.ts'
import type { Caches } from './kube/caches.ts'
import type { KubeObject } from './kube/object.ts'
import { keyLabel, poolLabel } from './kube/resources.ts'

/** Kinds whose objects are in the registry too. */
export type RegisteredKind = 'feeds' | 'apikeys'
export type Kind = RegisteredKind | 'streampools'

interface Names {
  readonly add: (of: Kind, name: string) => void
  readonly addAll: (of: Kind) => void
}

const ownersOf = {
  secrets: ['feeds', 'apikeys'],
  configmaps: ['feeds'],
  statefulsets: ['feeds'],
  services: ['streampools', 'feeds'],
  pods: ['streampools'],
  deployments: ['streampools'],
  poddisruptionbudgets: ['streampools'],
} as const satisfies Readonly<Record<Exclude<keyof Caches, Kind>, readonly Kind[]>>

const isReconciled = (kind: keyof Caches): kind is Kind => !(kind in ownersOf)

/** Adds the objects that a change may affect. A new list of parts (`undefined`) affects all of them. */
export function route(kind: keyof Caches, object: KubeObject | undefined, { add, addAll }: Names): void {
  if (isReconciled(kind)) return object === undefined ? addAll(kind) : add(kind, object.metadata.name)
  if (object === undefined) return ownersOf[kind].forEach(addAll)
  const [feed, pool] = [ownerName(object, 'Feed'), ownerName(object, 'StreamPool')]
  const { [keyLabel]: key, [poolLabel]: poolOfPod } = object.metadata.labels ?? {}
  if (feed !== undefined) add('feeds', feed)
  else if (pool !== undefined) add('streampools', pool)
  else if (kind === 'secrets' && key !== undefined) add('apikeys', key)
  else if (kind === 'pods' && poolOfPod !== undefined) add('streampools', poolOfPod)
}
