import { systemClock } from '../../../services/platform/system-clock.ts'

const deadlineMs = 60_000

/** Resolves once a socket opens at the URL: a new Redis grants no slots at first. */
export async function firstSocket(url: string): Promise<void> {
  const begunMs = performance.now()
  for (;;) {
    const socket = new WebSocket(url)
    const opened = await new Promise<boolean>((resolve) => {
      socket.addEventListener('open', () => resolve(true))
      socket.addEventListener('error', () => resolve(false))
    })
    socket.close()
    if (opened) return
    if (performance.now() - begunMs > deadlineMs) throw new Error(`no socket opens at ${url}`)
    await systemClock.sleep(500)
  }
}
