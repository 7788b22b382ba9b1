/** The answer of another service as text, with a size limit because the service is not trusted to end it. */

/** Throws as soon as the body exceeds `bytesMax`, and reads no further. */
export async function readBounded({ body }: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new Error(`the answer has more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
