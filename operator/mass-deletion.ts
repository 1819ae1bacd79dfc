/** Fewer may always go. */
const alwaysMax = 5
const shareMax = 1 / 5
/** Things that went before count for so long: objects that are deleted one by one are a mass too. */
const recentMs = 1_800_000

interface DeletionState {
  /** Things that have owners, gone or not. */
  readonly total: number
  /** The number that a person allowed. */
  readonly allowed: number | undefined
  readonly nowMs: number
}

/**
 * Decides for one kind which of the things that belong to objects that are gone may go too. When more than five and
 * more than a fifth would go within half an hour, no more may, unless a person allowed exactly this number: it looks
 * like lost objects, not like a wish. What a person allowed stays allowed until it went, and counts no further.
 */
export class MassDeletion {
  /** When things went without a permission, oldest first. */
  #recent: number[] = []
  readonly #permitted = new Set<string>()

  /** Ids of those that may go, and whether the permission was used now. */
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

  /** The thing was taken away. */
  removed(id: string, nowMs: number): void {
    if (!this.#permitted.delete(id)) this.#recent.push(nowMs)
  }
}

/** The number that a person allowed for a kind, such as 12 in "12 apikeys" or "6 feeds, 12 apikeys". */
export function allowedOf(annotation: string | undefined, kind: string): number | undefined {
  for (const part of (annotation ?? '').split(',')) {
    const match = /^(\d{1,9}) (\w+)$/.exec(part.trim())
    if (match?.[2] === kind) return Number(match[1])
  }
  return undefined
}

/** The annotation without the part for a kind; `undefined`: nothing is left. */
export function withoutKind(annotation: string, kind: string): string | undefined {
  const parts = annotation.split(',').map((part) => part.trim())
  return parts.filter((part) => !part.endsWith(` ${kind}`)).join(', ') || undefined
}
