/** Fewer may always go. */
const alwaysMax = 5
const shareMax = 1 / 5

/**
 * Which of the things that belong to objects that are gone may go too. When more than five and more than a fifth would
 * go at once, none may, unless a person allowed exactly this number: it looks like lost objects, not like a wish.
 */
export function mayGo<T>(
  gone: readonly T[],
  { total, allowed }: { readonly total: number; readonly allowed: number | undefined },
): readonly T[] {
  const isMass = gone.length > alwaysMax && gone.length > total * shareMax
  return isMass && allowed !== gone.length ? [] : gone
}

/** The number that a person allowed for a kind, such as 12 in "12 apikeys" or "6 feeds, 12 apikeys". */
export function allowedOf(annotation: string | undefined, kind: string): number | undefined {
  for (const part of (annotation ?? '').split(',')) {
    const match = /^(\d{1,9}) (\w+)$/.exec(part.trim())
    if (match?.[2] === kind) return Number(match[1])
  }
  return undefined
}
