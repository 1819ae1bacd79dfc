/** The owner of an object. When the owner is deleted, Kubernetes deletes the object too. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
}

export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly generation?: number
    readonly creationTimestamp?: string
    readonly deletionTimestamp?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly OwnerReference[]
  }
}

/** Drops the entries of objects that are not in the list; the keys are UIDs. */
export function retain(byUid: Map<string, unknown>, objects: readonly KubeObject[]): void {
  const uids = new Set(objects.map(({ metadata }) => metadata.uid ?? ''))
  for (const uid of byUid.keys()) if (!uids.has(uid)) byUid.delete(uid)
}

export type Mapping = Readonly<Record<string, unknown>>

/** The fields of a value that the operator does not check; none unless it is an object. */
export const mappingOf = (value: unknown): Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Mapping) : {}

/** The items of a field that the operator does not check; none unless it is a list. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A kind of namespaced objects. `group` is '' for core kinds. */
export interface Resource {
  readonly group: string
  readonly version: string
  readonly plural: string
  /** Lists and watches only objects with this label: `name` or `name=value`. */
  readonly label?: string
}

/** A kind of the operator's own objects. */
export interface OwnKind extends Resource {
  readonly kind: string
}
