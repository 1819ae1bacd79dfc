const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
const shape = /^(\d{1,9})([smhdw])$/
const durationMsMax = 36_600 * unitMs.d

export const durationWanted = 'a whole number and a unit: 30s, 15m, 1h, 90d or 2w'

/** Milliseconds of `30s`, `15m`, `1h`, `90d` or `2w`; `undefined` for any other text or more than a century. */
export function durationMs(text: string): number | undefined {
  const match = shape.exec(text)
  if (!match) return undefined
  const ms = Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]
  return ms <= durationMsMax ? ms : undefined
}

/** The shortest text that `durationMs` parses as this many seconds; weeks are written in days. */
export function durationText(seconds: number): string {
  for (const unit of ['d', 'h', 'm'] as const) {
    const size = unitMs[unit] / 1_000
    if (seconds > 0 && seconds % size === 0) return `${seconds / size}${unit}`
  }
  return `${seconds}s`
}
