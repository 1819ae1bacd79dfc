/** From now on a closed pipe, a full disk or a blocked terminal neither ends nor blocks this process; output is lost. */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error').on('error', () => undefined)
    // Node writes to terminals in blocking mode, and this is the only way to change that.
    const { _handle: handle } = stream as { _handle?: { setBlocking?: (isBlocking: boolean) => void } }
    handle?.setBlocking?.(false)
  }
}
