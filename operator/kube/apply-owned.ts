import { createHash } from 'node:crypto'
import type { KubeApi } from './api.ts'
import { covers } from './covers.ts'
import { NotReady } from './not-ready.ts'
import type { KubeObject, OwnerReference, Resource } from './object.ts'
import { apiVersionOf, group, keyLabel, managedByOperator } from './resources.ts'

/** What of an object the operator wants; fields that were wanted before and are left out now are taken away. */
const hashAnnotation = `${group}/wanted`

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export const ownerOf = (of: Resource & { readonly kind: string }, owner: KubeObject): OwnerReference => ({
  apiVersion: apiVersionOf(of),
  kind: of.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? '',
  controller: true,
})

/** Name of the object of that kind that owns this one. */
export const ownerName = (object: KubeObject, kind: string): string | undefined =>
  object.metadata.ownerReferences?.find((each) => each.controller && each.kind === kind)?.name

interface Place<T> {
  readonly api: Pick<KubeApi, 'get' | 'apply'>
  readonly of: Resource
  /** As the cache has it. */
  readonly existing: T | undefined
  readonly owner: OwnerReference
}

/**
 * `wanted` gives the object as it is to be, from the one that is there. Makes the object, or changes it where it lacks what is wanted; otherwise nothing is written. Rejects with `NotReady`
 * when the name belongs to an object that is not the owner's.
 */
export async function applyOwned<T extends KubeObject>(
  { api, of, existing, owner }: Place<T>,
  wanted: (existing: T | undefined) => T,
): Promise<T> {
  const isAsWanted = (found: T): boolean =>
    isOwned(found, owner) && covers(found, withOwner(wanted(found), owner))
  if (existing !== undefined && isAsWanted(existing)) return existing
  // The cache may be behind: what it does not show may be there, and belong to somebody else.
  const found = await api.get<T>(of, wanted(existing).metadata.name)
  if (found !== undefined && isAsWanted(found)) return found
  const made = withOwner(wanted(found), owner)
  refuseForeign(found, made, { owner, of })
  return api.apply<T>(of, made)
}

function withOwner<T extends KubeObject>(wanted: T, owner: OwnerReference): T {
  const { metadata } = wanted
  const annotations = {
    ...metadata.annotations,
    [hashAnnotation]: sha256(JSON.stringify(wanted)).slice(0, 32),
  }
  const labels = { ...metadata.labels, ...managedByOperator }
  return { ...wanted, metadata: { ...metadata, labels, annotations, ownerReferences: [owner] } }
}

const isOwned = ({ metadata }: KubeObject, { uid }: OwnerReference): boolean =>
  metadata.ownerReferences?.some((each) => each.controller && each.uid === uid) ?? false

/**
 * An object of ours without an owner is adopted, since a backup that was restored has lost it: one with the labels of
 * the wanted object, which name its Feed or StreamPool. The Secrets of an ApiKey have no owner, and are never adopted.
 */
function refuseForeign(
  found: KubeObject | undefined,
  wanted: KubeObject,
  { owner, of }: { readonly owner: OwnerReference; readonly of: Resource },
): void {
  if (found === undefined || isOwned(found, owner)) return
  const { labels = {}, ownerReferences = [], name } = found.metadata
  const isOurs = Object.entries(wanted.metadata.labels ?? {}).every(
    ([label, value]) => labels[label] === value,
  )
  if (isOurs && !(keyLabel in labels) && !ownerReferences.some((each) => each.controller)) return
  throw new NotReady(
    'NameTaken',
    `The name ${name} (${of.plural}) belongs to another object; delete that one, or give ${owner.kind} ${owner.name} another name.`,
  )
}
