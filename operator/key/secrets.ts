import { durationMs } from '../../services/core/clocks/duration.ts'
import type { UtcMs } from '../../services/core/clocks/feed-clock.ts'
import { timeOf, timeText } from '../kube/condition.ts'
import { NotReady } from '../kube/not-ready.ts'
import { type ApiKeyObject, group, keyLabel, managedByOperator, type Secret } from '../kube/resources.ts'
import { secretWith, textIn } from '../kube/secret-values.ts'
import type { Delivery, Digest } from './plan.ts'

const issueAnnotation = `${group}/issue`
const deliveredAnnotation = `${group}/delivered`
/** `spec.deletionPolicy` of the ApiKey, on the Secret of its digest: it must be known after the ApiKey is gone. */
const policyAnnotation = `${group}/deletion-policy`
const digestField = 'digest.json'
const secretShape = /^fxd_[0-9a-f]{32}$/

export const digestName = (key: string): string => `${key}-digest`
export const deliveryName = ({ metadata, spec }: ApiKeyObject): string =>
  spec.delivery?.secretName ?? metadata.name

/** No owner: a restored backup gives objects new UIDs, and these Secrets must survive that. */
const metadataOf = (key: ApiKeyObject, name: string): Secret['metadata'] => ({
  name,
  labels: { ...managedByOperator, [keyLabel]: key.metadata.name },
})

/** The Secret that delivers the key. It keeps its `resourceVersion`, so that a concurrent change causes a conflict. */
export function deliverySecret(
  key: ApiKeyObject,
  { issue, secret }: Delivery,
  { existing, nowMs }: { readonly existing: Secret | undefined; readonly nowMs: UtcMs },
): Secret {
  const annotations = { [issueAnnotation]: String(issue), [deliveredAnnotation]: timeText(nowMs) }
  const metadata = { ...metadataOf(key, deliveryName(key)), annotations }
  return onTopOf(existing, secretWith(metadata, { key: secret }))
}

export function digestSecret(key: ApiKeyObject, digest: Digest, existing: Secret | undefined): Secret {
  const metadata = metadataOf(key, digestName(key.metadata.name))
  const made = secretWith(metadata, { [digestField]: JSON.stringify(digest) })
  return withPolicy(key, onTopOf(existing, made))
}

/** The Secret of the digest with the policy of the ApiKey; the same object when it has it. */
export function withPolicy({ spec: { deletionPolicy = 'Retain' } }: ApiKeyObject, digest: Secret): Secret {
  if (policyOf(digest) === deletionPolicy) return digest
  const annotations = { ...digest.metadata.annotations, [policyAnnotation]: deletionPolicy }
  return { ...digest, metadata: { ...digest.metadata, annotations } }
}

const policyOf = ({ metadata: { annotations = {} } }: Secret): string =>
  annotations[policyAnnotation] ?? 'Retain'

/** Names of the ApiKeys whose Secrets are deleted after them. */
export const deletableKeys = (secrets: readonly Secret[]): readonly string[] =>
  secrets.flatMap((secret) => {
    const { name, labels = {} } = secret.metadata
    const key = labels[keyLabel] ?? ''
    return policyOf(secret) === 'Delete' && name === digestName(key) ? key : []
  })

/** The Secrets that the operator made for this ApiKey. The digest, which has the policy, is the last. */
export const secretsOf = (key: string, secrets: readonly Secret[]): readonly Secret[] => {
  const isDigest = ({ metadata }: Secret): number => Number(metadata.name === digestName(key))
  return secrets
    .filter(({ metadata: { labels = {} } }) => labels[keyLabel] === key)
    .toSorted((a, b) => isDigest(a) - isDigest(b))
}

function onTopOf(existing: Secret | undefined, made: Secret): Secret {
  if (existing === undefined) return made
  const { metadata } = existing
  const annotations = { ...metadata.annotations, ...made.metadata.annotations }
  const labels = { ...metadata.labels, ...made.metadata.labels }
  return { ...existing, ...made, metadata: { ...metadata, labels, annotations } }
}

export function deliveryIn(secret: Secret | undefined): Delivery | undefined {
  const text = textIn(secret, 'key')
  const issue = Number(secret?.metadata.annotations?.[issueAnnotation])
  return text !== undefined && Number.isInteger(issue) ? { issue, secret: text } : undefined
}

/** When the Secret was delivered, UTC milliseconds. */
export const deliveredAt = (secret: Secret): number =>
  timeOf(secret.metadata.annotations?.[deliveredAnnotation])

/** The digest in the Secret; `undefined` when it is missing or malformed. */
export function digestIn(secret: Secret | undefined): Digest | undefined {
  try {
    const { issue, specIssue, sha256, prefix, oldUntilMs, deliveredTo } = JSON.parse(
      textIn(secret, digestField) ?? '',
    ) as Partial<Digest>
    const isWhole = [issue, specIssue, oldUntilMs].every((each) => Number.isInteger(each))
    if (!isWhole || !/^[0-9a-f]{64}$/.test(sha256 ?? '')) return undefined
    if (typeof prefix !== 'string' || typeof deliveredTo !== 'string') return undefined
    return { issue, specIssue, sha256, prefix, oldUntilMs, deliveredTo } as Digest
  } catch {
    return undefined
  }
}

/** Throws `NotReady` for a delivery that would replace the digest or be deleted immediately. */
export function refuseDelivery({ metadata: { name }, spec: { delivery = {} } }: ApiKeyObject): void {
  const { secretName, deleteAfter = '' } = delivery
  if (secretName === digestName(name))
    throw new NotReady(
      'Invalid',
      `delivery.secretName: ${secretName} is the Secret of the digest; choose another.`,
    )
  if (durationMs(deleteAfter) === 0)
    throw new NotReady('Invalid', `delivery.deleteAfter: got ${deleteAfter}, wanted Never or more than zero`)
}

/** Throws `NotReady` for a Secret of this name that does not belong to this key. */
export function refuseForeignSecret(secret: Secret | undefined, key: string): void {
  if (secret === undefined || secret.metadata.labels?.[keyLabel] === key) return
  const { name } = secret.metadata
  // The name of the digest is made from the name of the key.
  const advice =
    name === digestName(key)
      ? 'delete that Secret, or create an ApiKey with another name'
      : 'delete that Secret, or create another ApiKey with another delivery.secretName'
  throw new NotReady('NameTaken', `The Secret ${name} belongs to another object; ${advice}.`)
}

/** The user's own secret in clear text. Throws `NotReady` when the Secret lacks it or it is malformed. */
export function ownSecretIn(
  secret: Secret | undefined,
  { name, key }: { readonly name: string; readonly key: string },
): string {
  const text = textIn(secret, key)?.trim()
  if (text === undefined)
    throw new NotReady(
      'SecretMissing',
      `The Secret ${name} has no key "${key}" or does not exist; create it.`,
    )
  if (secretShape.test(text)) return text
  throw new NotReady(
    'Invalid',
    `The value "${key}" of the Secret ${name} must be fxd_ and 32 characters of 0-9, a-f.`,
  )
}
