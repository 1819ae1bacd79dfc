interface Line {
  readonly level?: unknown
  readonly time?: unknown
  readonly msg?: unknown
  readonly err?: unknown
  readonly why?: unknown
}

const levelNames: Readonly<Record<string, string>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' }
const errorLevel = 50

// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f-\u009f]/g

/** A message may quote what clients sent: control characters must not move the cursor of a terminal. */
const shown = (text: string): string => text.replace(/\n */g, ' ').replace(controls, '?')

const valueOf = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"]+$/.test(value) ? shown(value) : shown(JSON.stringify(value))

/** A JSON line of the log as text for a person: time (UTC), level, message, cause, reason, fields. */
export function readableLine(json: string): string {
  const { level, time, msg, err, why, ...fields } = JSON.parse(json) as Line &
    Readonly<Record<string, unknown>>
  const { message, stack } = (err ?? {}) as { message?: unknown; stack?: unknown }
  const cause = message ?? (typeof err === 'string' ? err : undefined)
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${valueOf(value)}`)
  const said = [msg, cause, why].filter((part) => part !== undefined).map(String)
  const words = [
    `${String(time).slice(11, 19)}Z ${(levelNames[String(level)] ?? String(level)).padEnd(5)}`,
    shown(said.join(': ')),
    ...(pairs.length > 0 ? [`(${pairs.join(', ')})`] : []),
  ]
  const frames =
    typeof stack === 'string' && Number(level) >= errorLevel ? (stack.match(/^\s+at .*$/gm) ?? []) : []
  return `${[words.join(' '), ...frames.map(shown)].join('\n')}\n`
}
