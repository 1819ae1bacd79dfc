/**
 * A service outlives those who read what it prints: from here on a closed pipe, a full disk and a terminal that
 * takes nothing neither end this process nor hold it up. What was printed is lost then.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error').on('error', () => undefined)
    // Node writes to terminals in blocking mode and offers no other way to change that.
    const { _handle: handle } = stream as { _handle?: { setBlocking?: (isBlocking: boolean) => void } }
    handle?.setBlocking?.(false)
  }
}
