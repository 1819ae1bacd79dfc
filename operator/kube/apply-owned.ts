import { hash } from 'node:crypto'
import type { KubeApi } from './api.ts'
import { covers } from './covers.ts'
import { NotReady } from './not-ready.ts'
import type { KubeObject, OwnerReference, OwnKind, Resource } from './object.ts'
import { apiVersionOf, group, keyLabel, managedByOperator } from './resources.ts'

/** Annotation with the hash of the wanted object. A new hash removes fields that are not wanted any more. */
const hashAnnotation = `${group}/wanted`

export const ownerOf = (of: OwnKind, owner: KubeObject): OwnerReference => ({
  apiVersion: apiVersionOf(of),
  kind: of.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? '',
  controller: true,
})

export const ownerName = (object: KubeObject, kind: string): string | undefined =>
  object.metadata.ownerReferences?.find((each) => each.controller && each.kind === kind)?.name

interface Place<T> {
  readonly api: Pick<KubeApi, 'get' | 'apply'>
  readonly of: Resource
  /** The object in the cache. */
  readonly existing: T | undefined
  readonly owner: OwnerReference
}

/**
 * Creates the object, or changes it when it lacks wanted fields; otherwise writes nothing. `wanted` returns the wanted
 * object, given the existing one. Rejects with `NotReady` when the name belongs to another owner's object.
 */
export async function applyOwned<T extends KubeObject>(
  { api, of, existing, owner }: Place<T>,
  wanted: (existing: T | undefined) => T,
): Promise<T> {
  const isAsWanted = (found: T): boolean =>
    isOwned(found, owner) && covers(found, withOwner(wanted(found), owner))
  if (existing !== undefined && isAsWanted(existing)) return existing
  // The cache may be older: an object that it lacks may exist and belong to another owner.
  const found = await api.get<T>(of, wanted(existing).metadata.name)
  if (found !== undefined && isAsWanted(found)) return found
  const made = withOwner(wanted(found), owner)
  refuseForeignOwner(found, made, { owner, of })
  return api.apply<T>(of, made)
}

function withOwner<T extends KubeObject>(wanted: T, owner: OwnerReference): T {
  const { metadata } = wanted
  const annotations = {
    ...metadata.annotations,
    [hashAnnotation]: hash('sha256', JSON.stringify(wanted)).slice(0, 32),
  }
  const labels = { ...metadata.labels, ...managedByOperator }
  return { ...wanted, metadata: { ...metadata, labels, annotations, ownerReferences: [owner] } }
}

const isOwned = ({ metadata }: KubeObject, { uid }: OwnerReference): boolean =>
  metadata.ownerReferences?.some((each) => each.controller && each.uid === uid) ?? false

/**
 * Rejects objects of other owners. An object without an owner is adopted if it has the operator's labels of the wanted
 * object, which name its Feed or StreamPool: a restored backup loses the owner. Secrets of an ApiKey are never adopted.
 */
function refuseForeignOwner(
  found: KubeObject | undefined,
  wanted: KubeObject,
  { owner, of }: { readonly owner: OwnerReference; readonly of: Resource },
): void {
  if (found === undefined || isOwned(found, owner)) return
  const { labels = {}, ownerReferences = [], name } = found.metadata
  const isOurs = Object.entries(wanted.metadata.labels ?? {})
    .filter(([label]) => label in managedByOperator || label.startsWith(`${group}/`))
    .every(([label, value]) => labels[label] === value)
  if (isOurs && !(keyLabel in labels) && !ownerReferences.some((each) => each.controller)) return
  throw new NotReady(
    'NameTaken',
    `The name ${name} (${of.plural}) belongs to another object; delete that one, or give ${owner.kind} ${owner.name} another name.`,
  )
}
