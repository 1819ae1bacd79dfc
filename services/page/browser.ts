/** The clock of the browser. Everything else of the page gets it from here. */
export const nowSeconds = (): number => Date.now() / 1_000

/** Calls `run` after a time without another call. */
export function settled(ms: number, run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  return () => {
    clearTimeout(timer)
    timer = setTimeout(run, ms)
  }
}
