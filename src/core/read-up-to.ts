/** All bytes of a stream; null as soon as there are more than `most`, whatever else would come. Throws what the stream throws. */
export async function readUpTo(stream: AsyncIterable<Uint8Array>, most: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
