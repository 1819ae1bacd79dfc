/** Maximum removals that are always allowed. */
const alwaysMax = 5
const shareMax = 1 / 5
/** Time for which a removal counts: objects that are deleted one by one are a mass deletion too. */
const recentMs = 1_800_000

interface DeletionState {
  /** Number of items with an owner, existing or deleted. */
  readonly total: number
  /** The number of removals that a person allowed. */
  readonly allowed: number | undefined
  readonly nowMs: number
}

/**
 * Decides for one kind which items without an object may be removed. More than five and more than a fifth within half
 * an hour look like lost objects, not like a decision. Then nothing is removed without a permission for exactly this
 * number. Permitted items stay permitted until they are removed, and do not count as recent removals.
 */
export class MassDeletion {
  /** Times of removals without a permission, oldest first. */
  #recent: number[] = []
  readonly #permitted = new Set<string>()

  /** Ids of the items that may be removed, and whether the permission was used now. */
  decide(
    gone: readonly string[],
    { total, allowed, nowMs }: DeletionState,
  ): { removable: Set<string>; isUsed: boolean } {
    this.#recent = this.#recent.filter((atMs) => nowMs - atMs < recentMs)
    const ids = new Set(gone)
    for (const id of this.#permitted) if (!ids.has(id)) this.#permitted.delete(id)
    const others = gone.filter((id) => !this.#permitted.has(id))
    const removed = this.#recent.length
    const sum = others.length + removed
    const isMass = others.length > 0 && sum > alwaysMax && sum > (total + removed) * shareMax
    const isUsed = isMass && allowed === others.length
    if (isUsed) for (const id of others) this.#permitted.add(id)
    return { removable: isMass ? new Set(this.#permitted) : ids, isUsed }
  }

  removed(id: string, nowMs: number): void {
    if (!this.#permitted.delete(id)) this.#recent.push(nowMs)
  }
}

/** The allowed number of a kind in the annotation, such as 12 in "12 apikeys" or "6 feeds, 12 apikeys". */
export function allowedOf(annotation: string | undefined, kind: string): number | undefined {
  for (const part of (annotation ?? '').split(',')) {
    const match = /^(\d{1,9}) (\w+)$/.exec(part.trim())
    if (match?.[2] === kind) return Number(match[1])
  }
  return undefined
}

/** The annotation without the part of a kind; `undefined` when nothing is left. */
export function withoutKind(annotation: string, kind: string): string | undefined {
  const parts = annotation.split(',').map((part) => part.trim())
  return parts.filter((part) => !part.endsWith(` ${kind}`)).join(', ') || undefined
}
