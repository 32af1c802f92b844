// What an integrator's page does: uploads with a key, or with an upload URL from its server.
import Uppy from "@uppy/core";
import Tus from "@uppy/tus";

window.uploadWith = async ({ endpoint, key, uploadUrl, base64, name, retryDelays = [] }) => {
  const uppy = new Uppy().use(Tus, {
    retryDelays,
    ...(endpoint && { endpoint, headers: { authorization: `Bearer ${key}` } }),
  });
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  uppy.addFile({ name, type: "video/mp4", data: new Blob([bytes]) });
  if (uploadUrl) {
    uppy.addPreProcessor(async ([first]) => uppy.setFileState(first, { tus: { uploadUrl } }));
  }
  const { successful, failed } = await uppy.upload();
  const said = successful.length === 1 ? `uploaded ${name}` : `refused ${failed.map(({ error }) => error)}`;
  document.body.append(said, document.createElement("br"));
  return said;
};

// Many small files from one page, with Uppy's default options except for the number of parallel uploads.
window.uploadMany = async ({ endpoint, key, count, bytes, limit }) => {
  const uppy = new Uppy().use(Tus, { endpoint, limit, headers: { authorization: `Bearer ${key}` } });
  for (let number = 0; number < count; number++) {
    uppy.addFile({ name: `${number}.mp4`, type: "video/mp4", data: new Blob([new Uint8Array(bytes)]) });
  }
  const { successful, failed } = await uppy.upload();
  return { uploaded: successful.length, failures: failed.map(({ error }) => error) };
};
document.body.append("ready ");
