const answerDeadlineMs = 10_000

/**
 * Reads a metric from the port (or host:port) of a process. Returns the sum over all series with these labels, or
 * NaN if there is no such metric. Rejects without an answer.
 */
export async function metricOf(
  ops: number | string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const signal = AbortSignal.timeout(answerDeadlineMs)
  const at = typeof ops === 'number' ? `127.0.0.1:${ops}` : ops
  const text = await (await fetch(`http://${at}/metrics`, { signal })).text()
  const family = name.replace(/_(count|sum|bucket)$/, '')
  if (![name, family].some((each) => text.includes(`# TYPE ${each} `))) return Number.NaN
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))]
    .filter(([, carried = '']) => wanted.every((each) => carried.split(',').includes(each)))
    .reduce((sum, [, , value]) => sum + Number(value), 0)
}
