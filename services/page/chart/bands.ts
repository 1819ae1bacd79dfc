import type {
  IPrimitivePaneView,
  ISeriesPrimitive,
  SeriesAttachedParameter,
  Time,
  UTCTimestamp,
} from 'lightweight-charts'
import type { Range } from '../../../clients/typescript/src/types.ts'

type Target = Parameters<NonNullable<ReturnType<IPrimitivePaneView['renderer']>>['draw']>[0]

/** Shades times that no terminal answered for. */
export class Bands implements ISeriesPrimitive<Time> {
  bands: readonly Range[] = []
  color = ''
  #at: SeriesAttachedParameter<Time> | undefined

  attached(parameter: SeriesAttachedParameter<Time>): void {
    this.#at = parameter
  }

  paneViews(): readonly IPrimitivePaneView[] {
    return [{ zOrder: () => 'bottom', renderer: () => ({ draw: (target) => this.#draw(target) }) }]
  }

  #draw(target: Target): void {
    const scale = this.#at?.chart.timeScale()
    if (!scale) return
    const half = scale.options().barSpacing / 2
    target.useMediaCoordinateSpace(({ context, mediaSize }) => {
      context.fillStyle = this.color
      for (const { from, to } of this.bands) {
        const [left, right] = [
          scale.timeToCoordinate(from as UTCTimestamp),
          scale.timeToCoordinate(to as UTCTimestamp),
        ]
        if (left === null || right === null) continue
        if (right + half < 0 || left - half > mediaSize.width) continue
        context.fillRect(left - half, 0, Math.max(right - left + 2 * half, 2), mediaSize.height)
      }
    })
  }
}
