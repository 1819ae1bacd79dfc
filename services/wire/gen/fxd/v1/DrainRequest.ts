// Original file: proto/fxd/v1/shard.proto


export interface DrainRequest {
  /**
   * 0: all immediately. At most 3,600; a higher value is INVALID_ARGUMENT.
   */
  'seconds'?: (number);
}

export interface DrainRequest__Output {
  /**
   * 0: all immediately. At most 3,600; a higher value is INVALID_ARGUMENT.
   */
  'seconds': (number);
}
